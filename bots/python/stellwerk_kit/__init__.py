"""The conformance kit: tests of what a bot, a client library or a server must do."""
