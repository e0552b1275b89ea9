module stellwerk-bot

go 1.24
