"""What is made of a tournament's folder, and can be made again: tables, ratings, the page, `verify`."""
