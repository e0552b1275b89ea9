#!/usr/bin/env bash
# `bash test/codec_test.sh`: how bot.sh reads lines, and the texts that it sends.

export LC_ALL=C
source "$(dirname "${BASH_SOURCE[0]}")/../codec.sh"

declare -A got=()
failures=0

check() { # NAME EXPECTED CAME
    if [[ $2 != "$3" ]]; then
        echo "FAIL $1: expected [$2]; came [$3]"
        ((failures += 1))
    else
        echo "ok   $1"
    fi
}

# In the order of their names, which `got` does not keep.
fields() {
    local name
    for name in $(printf '%s\n' "${!got[@]}" | sort); do
        printf '%s=%s;' "$name" "${got[$name]}"
    done
}

reads() { # NAME EXPECTED LINE
    decode "$3" || got=([type]=none)
    check "$1" "$2" "$(fields)"
}

refuses() { # NAME LINE
    decode "$2"
    check "$1" 1 $?
}

reads 'texts and numbers' 'ask=12;match=m-1;type=ask;' '{"type":"ask","match":"m-1","ask":12}'
reads 'any order, and spaces' 'ask=12;match=m-1;type=ask;' '{ "ask" : 12 , "match" : "m-1", "type" : "ask" }'
reads 'a carriage return at the end' 'type=pong;' $'{"type":"pong"}\r'
reads 'true and a negative number' 'a=true;b=-5;type=x;' '{"type":"x","a":true,"b":-5}'
reads 'the number of objects in a list' 'legal=3;type=ask;' \
    '{"legal":[{"type":"pass"},{"type":"lay_cards","cards":{"red":2}},{"tickets":["a","b"]}],"type":"ask"}'
reads 'an empty list' 'legal=0;type=ask;' '{"type":"ask","legal":[]}'
reads 'fields further inside are passed over' 'a=1;b=1;match=m;type=x;' \
    '{"a":[{"match":"no","type":"no"}],"type":"x","b":{"type":"no","c":[{"type":"no"}]},"match":"m"}'
reads 'brackets and colons in texts' 'a=[{:,;match=m;type=x;' '{"type":"x","a":"[{:,","match":"m"}'
reads 'quotes and backslashes in texts' 'a=say hi;match=m;type=x;' \
    '{"type":"x","a":"say \"hi\\\\\"","match":"m"}'
reads 'a text that looks like a field' 'a=,match:no;match=m;type=x;' '{"type":"x","match":"m","a":",\"match\":\"no"}'
reads 'names that are none for bash' '_=1;type=x;' '{"type":"x","@":0,"":1}'
reads 'text that is not ASCII' $'a=gr\xc3\xa4u;type=x;' $'{"type":"x","a":"gr\xc3\xa4u"}'
refuses 'an empty line' ''
refuses 'a list' '[1]'
refuses 'an object without a type' '{"a":1}'
refuses 'a type that is no text' '{"type":{"a":"b"}}'
refuses 'half a line' '{"type":"x","a":[1'
refuses 'a bracket too few' '{"type":"x","a":{}'
refuses 'something else' 'HTTP/1.1 400 Bad Request'

check 'a text is quoted' '"a b"' "$(text 'a b')"
check 'quotes and backslashes are escaped' '"\"\\\\\""' "$(text '"\\"')"
check 'a list of texts' '["a","b","c d"]' "$(texts a b 'c d')"
check 'no texts' '[]' "$(texts)"

exit $((failures > 0))
