"""The server: sessions, lobby, clocks and journal as plain code, and thin modules around it that wait."""
