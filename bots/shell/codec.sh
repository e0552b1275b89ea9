# Messages in bash: no more than this bot reads and writes.

# Word splitting is wanted here, files are not.
set -f

# decode LINE: the fields of the line's object into the associative array `got`. Texts and numbers are there as they
# are, but for what is escaped in them; of a list or an object the number of those right inside, and no more.
# It fails for what is no object with a type.
decode() {
    local line=${1//\\\\/} key=_ depth=0 place character following
    line=${line//\\\"/}
    got=()
    [[ $line == *$'\r' ]] && line=${line%?}
    [[ $line == '{'*'}' ]] || return 1
    local IFS='"'
    local parts=($line) # by turns what stands between texts, and a text
    unset IFS
    for ((place = 0; place < ${#parts[@]}; place++)); do
        if ((place % 2 == 0)); then
            between_texts "${parts[place]}"
        elif ((depth == 1)); then
            following=${parts[place + 1]-}
            if [[ ${following//[[:space:]]/} == :* ]]; then
                key=${parts[place]//[!a-z_]/}
                got[${key:=_}]=''
            else
                got[$key]=${parts[place]}
            fi
        fi
    done
    ((depth == 0 && ${#parts[@]} % 2 == 1)) && [[ ${got[type]-} == [!0-9]* ]]
}

# A part of `decode`: brackets are counted, and what is left at the first level is the text of a number.
between_texts() {
    for ((character = 0; character < ${#1}; character++)); do
        case ${1:character:1} in
            '{' | '[')
                ((depth == 1)) && got[$key]=0
                ((depth == 2)) && ((got[$key] += 1))
                ((depth += 1))
                ;;
            '}' | ']') ((depth -= 1)) ;;
            ':' | ',' | [[:space:]]) ;;
            *) ((depth == 1)) && got[$key]+=${1:character:1} ;;
        esac
    done
}

# text WORD: the word as JSON has it.
text() {
    local word=${1//\\/\\\\}
    printf '"%s"' "${word//\"/\\\"}"
}

# texts WORD...: a list of words.
texts() {
    local word list=''
    for word; do
        list+=,$(text "$word")
    done
    printf '[%s]' "${list#,}"
}
