"""A bot that asks a language model: any command, or any address that speaks as OpenAI's do.

May import: the client library, `imagined`, the engine and the protocol.

Law: the prompt says what the ask says, and no more. The model's answer is text from a stranger: it becomes a
move only if the rules accept it.
"""
