# Messages in bash: only what this bot reads and writes.

# Split words here, but do not expand file names.
set -f

# decode LINE: the fields of the line's object into the associative array `got`. Texts and numbers are stored as they
# are, with their escapes; for a list or an object only the number of its members is stored. It fails if the line is not
# an object with a type.
decode() {
    local line=${1//\\\\/} key=_ depth=0 place character following
    line=${line//\\\"/}
    got=()
    [[ $line == *$'\r' ]] && line=${line%?}
    [[ $line == '{'*'}' ]] || return 1
    local IFS='"'
    local parts=($line) # alternately: the part between texts, and a text
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

# A part of `decode`: it counts brackets; the rest at the first level is the text of a number.
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

# text WORD: the word as JSON.
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
