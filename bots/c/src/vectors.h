#ifndef VECTORS_H
#define VECTORS_H

/* Lets greedy answer the asks of a file of JSON Lines: a start, and its asks with their recorded answers. Prints the
   first difference, or how many there are. Gives the exit code. */
int answer_vectors(const char *file);

#endif
