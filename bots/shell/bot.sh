#!/usr/bin/env bash
# `bash bot.sh random`: a bot for Stellwerk in pure bash, over TCP or over standard input and output. It knows no rules
# and no moves: it chooses a random index. It does not resume: it exits if the connection is lost. Exit codes: 0 played,
# 1 refused, 2 usage, 4 no server.

((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 404)) || { echo "bash ${BASH_VERSION%%(*} is too old: 4.4 will do" >&2 && exit 2; }
set -uo pipefail
export LC_ALL=C # texts are bytes
trap '' PIPE    # a write after the end fails, and the next read sees the end
source "$(dirname "${BASH_SOURCE[0]}")/codec.sh"

usage='usage: bash bot.sh random [--address tcp://127.0.0.1:7878] [--name N] [--token T]
                [--game G --players N --option X --against a,b,c --seed S --room R --seat K]

--option may be repeated. An address is tcp://HOST:PORT or stdio:. Defaults come from
STELLWERK_ADDRESS, STELLWERK_NAME and STELLWERK_TOKEN; the lots follow from STELLWERK_BOT_SEED.'

address=${STELLWERK_ADDRESS-tcp://127.0.0.1:7878} name=${STELLWERK_NAME-random-$$} token=${STELLWERK_TOKEN-}
game='' players='' options=() against='' seed='' room='' seat=''

declare -A got=()                # the last message, as `decode` stores it
declare -A needed=(              # the fields that a message needs
    [start]='match game' [ask]='match ask legal' [ok]=match [default]=match [end]=match [error]=code [bye]=code
)
phase=greeting                   # then login, and in
match='' played='' ask='' lot='' # the match, its game, the open ask, the answer to it
over=no                          # whether a match was played to its end

# -- from the command line to the connection

main() {
    case ${1-} in
        random) shift ;;
        -h | --help) echo "$usage" && exit 0 ;;
        *) misused "not a bot: ${1-}" ;;
    esac
    while (($# > 0)); do
        (($# > 1)) || misused "not an option, or without its value: $1"
        option "$1" "$2"
        shift 2
    done
    if [[ -n ${STELLWERK_BOT_SEED-} ]]; then
        RANDOM=$(cksum <<<"$STELLWERK_BOT_SEED" | cut -d ' ' -f 1)
    fi
    connect
    while IFS= read -r -u 3 line; do
        decode "$line" || stop 1 "this is not a Stellwerk server: ${line:0:80}"
        take "$line"
    done
    [[ $address == stdio: && $over == yes && -z $match ]] && exit 0 # the end of input means bye
    stop 4 'the connection is lost'
}

option() { # NAME VALUE
    [[ $2 != *[[:cntrl:]]* ]] || misused "$1 with a control character"
    case $1 in
        --address) address=$2 ;;
        --name) name=$2 ;;
        --token) token=$2 ;;
        --game) game=$2 ;;
        --option) options+=("$2") ;;
        --against) against=$2 ;;
        --seed) seed=$2 ;;
        --room) room=$2 ;;
        --players | --seat)
            [[ $2 =~ ^[0-9]{1,9}$ ]] || misused "not a number: $2"
            printf -v "${1#--}" '%d' "$((10#$2))"
            ;;
        *) misused "no such option: $1" ;;
    esac
}

connect() {
    local tcp='^tcp://(\[([^]]+)\]|([^]:/@[]+)):([0-9]{1,5})$'
    if [[ $address == stdio: ]]; then
        exec 3<&0 4>&1 1>&2 # standard output is for the messages only
    elif [[ $address =~ $tcp ]]; then
        local server=/dev/tcp/${BASH_REMATCH[2]:-${BASH_REMATCH[3]}}/${BASH_REMATCH[4]}
        { exec 3<>"$server"; } 2>/dev/null || stop 4 "cannot connect to $address"
        exec 4>&3
    else
        misused "not an address:  $address; it is tcp://HOST:PORT or stdio:"
    fi
}

# -- messages

take() { # LINE, which is in `got` too
    local type=${got[type]} field
    if [[ $phase == greeting && $type != @(hello|bye) ]]; then
        stop 1 'this is not a Stellwerk server: it sent no hello'
    fi
    for field in ${needed[$type]-}; do
        [[ -n ${got[$field]-} ]] || stop 1 "this is not a Stellwerk server: $type without a valid $field"
    done
    if [[ $type == @(ask|ok|default|end) && ${got[match]} != "$match" ]]; then
        return
    fi
    case $type in
        hello) phase=login && login ;;
        welcome) phase=in && [[ -z $game ]] || join ;;
        start)
            match=${got[match]} played=${got[game]} over=no
            say '{"type":"ready","match":"%s"}' "$match"
            ;;
        ask)
            ask=${got[ask]}
            ((lot = (RANDOM << 15 | RANDOM) % got[legal]))
            act
            ;;
        ok) ask='' ;;
        default) ask='' && log "the server moved for this seat: ${got[reason]-}" ;;
        error) mend ;;
        end)
            [[ $1 =~ \"ranks\":\ *\[([0-9,\ ]*)\] ]]
            finish "$played: ranks by seats ${BASH_REMATCH[1]-?}"
            ;;
        bye)
            [[ ${got[code]} == 'done' && -z $match && -z $game ]] && exit 0
            stop 1 "the server sent bye: ${got[code]}"
            ;;
    esac
}

login() {
    local fields='"type":"login","protocol":1,"wants":{"view":false,"events":false}'
    add language "$(text "bash ${BASH_VERSION%%(*}")"
    add name "$(text "$name")"
    [[ -z $token ]] || add token "$(text "$token")"
    say '{%s}' "$fields"
}

join() {
    local fields='"type":"join"' others=(${against//,/ })
    add game "$(text "$game")"
    add players "${players:-$((${#others[@]} > 0 ? ${#others[@]} + 1 : 2))}"
    ((${#options[@]} == 0)) || add options "$(texts "${options[@]}")"
    ((${#others[@]} == 0)) || add against "$(texts "${others[@]}")"
    [[ -z $seed ]] || add seed "$(text "$seed")"
    [[ -z $room ]] || add room "$(text "$room")"
    [[ -z $seat ]] || add seat "$seat"
    say '{%s}' "$fields"
}

add() { # NAME VALUE, to `fields`
    fields+=",\"$1\":$2"
}

act() {
    say '{"type":"act","match":"%s","ask":%s,"index":%s}' "$match" "$ask" "$lot"
}

# If an answer is refused, send the first listed move. If that is refused, too, the server moves.
mend() {
    local text="${got[code]}${got[pointer]:+ at ${got[pointer]}}: ${got[expected]-}"
    [[ $phase == in ]] || stop 1 "the login was refused: $text"
    case ${got[code]} in
        protocol.stale_ask | protocol.too_fast | protocol.out_of_phase) return ;;
        server.failed) finish "$played: no result, server.failed" && return ;;
    esac
    [[ -n $match ]] || stop 1 "the join was refused: $text"
    if [[ -z $ask || ${got[ask]-$ask} != "$ask" ]]; then
        log "the server refused a message: $text"
    elif [[ ${got[code]} == server.busy ]]; then
        sleep 1
        act
    else
        log "the answer was refused: $text"
        if ((lot > 0)); then
            lot=0
            act
        fi
    fi
}

finish() { # RESULT
    match='' ask='' over=yes
    echo "${1//[[:cntrl:]]/?}"
    [[ -z $game ]] || exit 0
}

say() { # FORMAT WORD...: a line, in one write
    printf "$1\n" "${@:2}" >&4
} 2>/dev/null

log() { # TEXT
    echo "${1//[[:cntrl:]]/?}" >&2
}

stop() { # EXIT-CODE TEXT
    log "$2"
    exit "$1"
}

misused() { # TEXT
    log "$1"
    echo "$usage" >&2
    exit 2
}

main "$@"
