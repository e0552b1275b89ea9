"""The server: sessions, lobby, clocks and journal as plain code; thin modules around it that wait and talk."""
