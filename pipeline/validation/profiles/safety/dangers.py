"""Commands and secrets in a text that harm the machine on which an agent follows it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from catalog.model.finding import FindingType
from pipeline.roots.secrets import secrets
from pipeline.roots.words import Words, searched
from pipeline.validation.profiles.safety import codes
from pipeline.validation.profiles.safety.context import is_warned_of

_LONGEST = 500  # characters of a command before and after the word that shows it
_MOST_IN_LINE = 5
_MOST_MATCHES = 50  # of one danger, with those of which the text warns
_MOST_CHARACTERS = 20_000  # of lines that are searched for one danger; an ordinary text has a few


@dataclass(frozen=True, slots=True)
class Shape:
    """Shape of a danger, which is searched for only in lines that contain one of the words."""

    kind: FindingType
    words: tuple[str, ...]  # in lower case
    pattern: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Danger:
    """Words of one kind of danger in a text."""

    kind: FindingType
    words: str
    offset: int  # in characters
    end: int


def dangers(text: str, words: Words) -> Iterator[Danger]:
    """Yield the dangers of a text in which words were found, except those that it warns of."""
    for shape in SHAPES:
        if words.keys().isdisjoint(shape.words):
            continue
        matches = (
            match
            for start, end in _parts(text, shape, words)
            for match in islice(shape.pattern.finditer(text, start, end), _MOST_IN_LINE)
        )
        for match in islice(matches, _MOST_MATCHES):
            if not is_warned_of(text, match.start(), match.end()):
                yield Danger(shape.kind, " ".join(match[0].split()), *match.span())
    for secret in secrets(text, words):
        yield Danger(codes.SECRET, f"{secret[0][:4]}…", *secret.span())


def _parts(text: str, shape: Shape, words: Words) -> list[tuple[int, int]]:
    """Return the offsets of the first lines that contain a word of a shape, with continuations."""
    parts: dict[int, int] = {}
    size = 0
    for word in shape.words:
        last = 0
        for at in words.get(word, ()):
            if size > _MOST_CHARACTERS:
                break
            if at >= last:
                start, end = _part(text, at)
                size += 0 if start in parts else end - start
                parts[start], last = end, max(end, at + len(word))
    return sorted(parts.items())


def _part(text: str, at: int) -> tuple[int, int]:
    start = max(text.rfind("\n", max(at - _LONGEST, 0), at) + 1, at - _LONGEST, 0)
    end = at
    while (end := text.find("\n", end, at + _LONGEST)) > 0 and text[end - 1] == "\\":
        end += 1
    return start, min(at + _LONGEST, len(text)) if end < 0 else end


_SHELL = (
    r"(?:sudo\s+(?:-\w+\s+)*)?(?:env\s+)?(?:/\S{1,30}/)?(?:ba|z|da|k|fi)?sh\b"
    r"(?!\s+(?!-)[\"']?[\w/${}-]{0,60}[./$])"  # a script of its own that only reads the input
)
_RUNS = (
    rf"(?:{_SHELL}|(?:sudo\s+)?(?:python3?|node|perl|ruby|php)\b(?:\s+-)?(?=\s*(?:$|[`\"')&;|])))"
)
_FETCH = r"\b(?:curl|wget)\b"
_KEYS = (
    r"(?:(?:~|\$HOME|\$\{HOME\}|%USERPROFILE%|\$env:USERPROFILE|/root|/home/\w{1,32}"
    r"|/Users/\w{1,32})"
    r"[/\\](?:\.ssh[/\\]id_\w+(?!\w|\.pub)|\.ssh/\*|\.aws[/\\]credentials|\.netrc|\.git-credentials"
    r"|\.config/gh/hosts\.yml|\.docker/config\.json|\.kube/config|\.gnupg/|\.npmrc|\.pypirc"
    r"|\.config/gcloud/|\.(?:bash|zsh)_history|Library/Keychains)|/etc/shadow\b)"
)
_ENV_FILE = r"(?<![\w])\.env\b(?!\.(?:example|sample|template|dist))"
_HOME = r"[\"']?(?:~|\$HOME|\$\{HOME\}|/)(?:/?\*|/)?[\"']?(?=\s|$|[`;&|)'\"])"
_USER = r"(?:user|human|operator)s?"
_NOT = r"(?:\b(?:not|never|without)|n['’]t)\s+(?:ever\s+)?"
_LATER = (
    r"(?![^.\n]{0,60}\b(?:until|before|unless|yet|twice|(?:is|are) an? (?:bug|defect|fault))\b)"
)
_PINNED = r"@?[\w./-]+@(?!latest\b|next\b)[\w.^~]"
_PACKAGE = rf"(?!{_PINNED})(?!git\b)(?![-$<{{.])@?[\w./-]{{2,80}}"
_NO_NAME = (
    r"(?!(?:an?|and|are|as|can|command|creates?|does?|downloads?|for|from|if|in|instead|is|may|must"
    r"|needs?|not|on|or|over|runs?|should|that|the|to|uses?|when|which|will|with|works?)\b)"
)
_AGENT = r"(?:claude|codex|gemini|copilot|cursor-agent|aider|qwen|opencode|droid|amp)"


def _shape(kind: FindingType, words: str, *patterns: str) -> Shape:
    at_words = "|".join(pattern for pattern in patterns if pattern.startswith(r"\b"))
    elsewhere = [pattern for pattern in patterns if not pattern.startswith(r"\b")]
    return Shape(
        kind,
        searched(word.replace("\0", " ") for word in words.split()),
        re.compile("|".join([*elsewhere, rf"\b(?:{at_words})"]), re.IGNORECASE | re.M),
    )


SHAPES = (
    _shape(
        codes.DOWNLOAD_RUN,
        "curl wget",
        rf"{_FETCH}(?:[^|;\n\\]++|\\[^|])++\|\s*(?:tee\s+\S{{1,60}}\s*\|\s*)?{_RUNS}",
        rf"\b(?:ba|z)?sh\s+<\(\s*{_FETCH}",
        rf"\b(?:(?:ba|z)?sh|python3?|node|perl|ruby)\s+-\w*[ce]\w*\s+[\"']?\$\(\s*{_FETCH}",
        rf"\b(?:eval|source|\.)\s+[\"']?(?:\$\(|<\()\s*{_FETCH}",
        rf"{_FETCH}(?=[^\n;&]*[;&])[^\n;&]{{1,300}}?[/\s](?P<got>[\w.-]{{2,60}})[\"']?\s*(?:&&|;)\s*"
        r"(?:chmod\s+\S{1,10}\s+\S{0,60}(?P=got)\s*(?:&&|;)\s*)?"
        r"(?:sudo\s+)?(?:(?:ba|z)?sh\s+\S{0,60}|\./)(?P=got)\b",
        rf"{_FETCH}(?=[^\n;&]*[;&])[^\n;&]{{0,200}}?\s-o\s+(?P<out>[\w./-]{{2,60}})\s[^\n;&]{{1,200}}"
        r"(?:&&|;)\s*(?:sudo\s+)?(?:(?:ba|z)?sh\s+)(?P=out)\b",
    ),
    _shape(
        codes.DOWNLOAD_RUN,
        "iex invoke-expression urlopen requests.get deno\x00run",
        r"\b(?:irm|iwr|invoke-\w{1,20}|downloadstring)\b[^;\n]{1,300}\|\s*(?:iex"
        r"|invoke-expression)\b",
        r"\b(?:iex|invoke-expression)\b[\s(&]{1,5}[^\n]{0,60}(?:irm|iwr|invoke-webrequest"
        r"|downloadstring)",
        r"\b(?:exec|eval)\s*\(\s*(?:\w+\.){0,3}(?:urlopen|requests\.get|httpx\.get"
        r"|get)\(\s*[\"']https?:",
        r"\bdeno run\s+(?:-\S+\s+)*https?://",
    ),
    _shape(
        codes.PAYLOAD_ENCODED,
        "base64 b64decode atob -enc fromhex xxd buffer.from decode64 marshal.loads"
        " zlib.decompress codecs.decode openssl",
        rf"\bbase64\s+(?:-d|-D|--decode)\b[^|\n]{{0,100}}\|\s*{_RUNS}",
        r"\b(?:exec|eval)\s*\(\s*(?:[\w.]{1,40}\(\s*){0,3}"
        r"(?:base64\.)?(?:b64decode|atob|bytes\.fromhex|codecs\.decode|marshal\.loads"
        r"|zlib\.decompress|Buffer\.from|base64_decode)\b",
        r"\beval\s+(?:decode_base64|Base64\.decode64)|\bnew Function\(\s*(?:atob|Buffer\.from)\(",
        r"\b(?:eval|(?:ba|z)?sh\s+-c)\s+[\"']?\$\([^)\n]{1,200}\bbase64\s+(?:-d|-D|--decode)",
        r"\b(?:source|\.|(?:ba|z)?sh)\s+<\([^)\n]{1,200}\bbase64\s+(?:-d|-D|--decode)",
        r"\b(?:powershell|pwsh)(?:\.exe)?\b[^\n]{0,100}\s-e(?:nc|ncodedcommand)?\s+[\w+/=]{16}",
        r"\bFromBase64String\b[^|\n]{0,100}\|\s*(?:iex|invoke-expression)\b",
        r"\b(?:iex|invoke-expression)\b[^\n]{0,100}\bFromBase64String\b",
        rf"\bxxd\s+-r\b[^|\n]{{0,60}}\|\s*{_RUNS}",
        rf"\bopenssl\s+enc\s[^|\n]{{0,60}}-d\b[^|\n]{{0,100}}\|\s*{_RUNS}",
    ),
    _shape(
        codes.DOWNLOAD_LOCKED,
        "unzip 7z unrar password passwort passcode passphrase 解压密码 解壓密碼",
        r"\bunzip\s+(?:-\w+\s+)*(?-i:-P)\s*\S",
        r"\b(?:7z|7za|unrar)\s+[xe]\s+(?:\S+\s+)?-p\S",
        r"\b(?:download|archive|zip|rar)\b[^.\n]{0,100}\bpassword"
        r"(?:\s+(?:is|to (?:un\w+|extract|open)\w*))?\s*[:=]?\s*[\"'`“]\S",
        r"\b(?:extract|unpack|unzip)\b[^.\n]{0,60}\b(?:with|using) "
        r"(?:the )?pass(?:word|code|phrase)\b(?!s?[- ](?:protect|input|field|hash|manager|reset))",
        r"\bPasswort (?:des|der|zum|für) [^\n]{0,30}[:=]\s*[\"'`“„]?\S",
        r"解[压壓]密[码碼]\s*[:：是为]",
        r"\bgpg\s[^\n]{0,60}--passphrase\s+(?![\"']?\$)\S",
    ),
    _shape(
        codes.DESTRUCTIVE_COMMAND,
        "rm\x00-",
        rf"\brm\s+(?:-\w+\s+|--[\w-]+\s+){{0,9}}-\w*(?:r\w*f"
        rf"|f\w*r)\w*\s+(?:--[\w-]+\s+)*(?:--\s+)?{_HOME}",
        rf"\brm\s+(?:-r\s+-f|--recursive\s+--force|--force\s+--recursive)\s+{_HOME}",
        r"\brm\s+-(?:rf|fr)\s+/(?:usr|etc|var|bin|lib|boot|home|root|System|Users)/?(?=\s|$"
        r"|[`\"';&|)])",
    ),
    _shape(
        codes.DESTRUCTIVE_COMMAND,
        "remove-item mkfs of=/dev >\x00/dev/ :(){ find\x00/ find\x00~ find\x00$home del\x00/"
        " rd\x00/ rmdir\x00/ format\x00 rmtree rmsync wipefs shred diskutil",
        r"\bfind\s+(?:/|~/?|\"?\$HOME\"?)\s+(?:-type\s+\w\s+|-mindepth\s+\d\s+)*-(?:delete"
        r"|exec\s+rm)\b",
        r"\bremove-item\b[^\n]{0,80}(?:\$HOME|\$env:USERPROFILE|[A-Z]:\\)[\"']?(?=\s|$)",
        r"\b(?:del|rd|rmdir)\s+(?:/\w\s+)+[\"']?(?:[A-Z]:\\\*?|%USERPROFILE%)[\"'`]?(?=\s|$)",
        r"\bformat\s+[A-Z]:\s+/\w",
        r"\brmtree\(\s*(?:os\.path\.expanduser\(\s*[\"']~/?[\"']\s*\)|(?:pathlib\.)?Path\.home\(\)"
        r"|[\"'](?:/|~)[\"'])\s*[,)]",
        r"\brm(?:Sync)?\(\s*(?:os\.)?homedir\(\)\s*,",
        r"\b(?:mkfs(?:\.\w+)?|wipefs|shred)\s+(?:-\w+\s+(?:\d+\s+)?)*/dev/",
        r"(?:\bdd\s[^\n]{0,80}\bof=|\bcat\s+/dev/\w+\s*>\s*)/dev/(?:sd[a-w]\b|hd[a-w]\b|nvme\d"
        r"|disk\d|mmcblk\d)",
        r"\bdiskutil\s+(?:erase|zero)Disk\b",
        r":\(\)\s*\{\s*:\|:&\s*\};:",
    ),
    _shape(
        codes.PROTECTION_DISABLED,
        "--dangerously --yolo bypasspermissions reject_unauthorized sslverify setenforce"
        " mppreference master-disable global-disable csrutil executionpolicy ufw\x00disable"
        " firewalld apparmor advfirewall danger-full-access pythonhttpsverify strict-ssl"
        " ssl_no_verify --allow-all-tools",
        rf"\b{_AGENT}\b[^\n`]{{0,80}}--dangerously-[\w-]{{3,40}}",
        r"\b(?:run|start|launch|restart|pass|add)\b[^.\n]{0,40}--dangerously-[\w-]{3,40}",
        rf"\b{_AGENT}\b[^\n`]{{0,80}}--(?:yolo|allow-all-tools)(?![\w-])",
        r"[\"']?(?:defaultMode|permission-?mode)[\"']?[\s:=]{1,5}[\"']?bypassPermissions",
        r"\bsandbox(?:[_-]mode)?[\s=:\"']{1,5}danger-full-access",
        r"\b(?:NODE_TLS_REJECT_UNAUTHORIZED|PYTHONHTTPSVERIFY)[\"'\]]{0,3}\s*[=:\s]\s*[\"']?0",
        r"\bhttp\.sslVerify[\s=]+false|\bstrict-ssl[\s=]+false",
        r"\bGIT_SSL_NO_VERIFY\s*=\s*[\"']?(?:1|true)",
        r"\bsetenforce\s+0\b|\bufw\s+disable\b",
        r"\bsystemctl\s+(?:stop|disable|mask)\s+(?:--now\s+)?(?:firewalld|apparmor|ufw)\b",
        r"\badvfirewall\s+set\s+\w+\s+state\s+off",
        r"\bSet-MpPreference\b[^\n]{0,60}-Disable\w+\s+\$?true"
        r"|\bAdd-MpPreference\b[^\n]{0,40}-Exclusion",
        r"\bspctl\s+--(?:master|global)-disable",
        r"\bcsrutil\s+disable",
        r"\bSet-ExecutionPolicy\s+(?:-\w+\s+)?(?:Bypass|Unrestricted)\b",
    ),
    _shape(
        codes.CREDENTIALS_READ,
        ".ssh .aws .netrc .git-credentials gh/hosts.yml .docker/config .kube/config .gnupg"
        " .npmrc .pypirc .config/gcloud .bash_history .zsh_history keychain /etc/shadow"
        " security\x00find /environ logins.json login\x00data --export-secret"
        " security-credentials view\x00--raw aws_secret_access_key",
        rf"(?<![\w-])(?<!will )(?:cat|less|more|head|tail|base64|xxd|strings|tar|zip|type"
        rf"|get-content|source|grep|awk|sed(?!\s+-i)|read|print|include|collect|upload|send)\b"
        rf"[^|;\n]{{0,80}}?(?<!-i )(?:{_KEYS})",
        rf"(?<![\w-])(?:cp|scp|rsync|copy|mv)\s+(?:-\w+\s+)*[\"']?(?<!-i )(?:{_KEYS})[\"']?\s+\S",
        rf"\bopen\([^)\n]{{0,60}}(?:{_KEYS})",
        rf"\bopen\s+{_KEYS}[^\n]{{0,40}}\b(?:copy|paste|send|content)",
        r"\bhome(?:dir)?\(\)\s*[/+,]\s*[\"']/?\.(?:ssh|aws|gnupg)(?:[\"']\s*[/,]\s*[\"']|/)"
        r"(?:id_\w+|credentials)(?:[\"']\)*\s*\.(?:read_\w+|open)|[\"']\)?,?[^\n]{0,20}\))",
        r"\bsecurity\s+find-(?:generic|internet)-password\b[^\n]{0,80}\s-w\b",
        r"\bsecurity\s+dump-keychain|\bgpg\s[^\n]{0,40}--export-secret-keys?\b",
        r"\b169\.254\.169\.254/\S{0,60}security-credentials",
        r"(?<![\w-])(?:cat|strings|tr|xargs|open\()[^|;\n]{0,60}/proc/(?:self|\d+|\$\w+)/environ",
        r"\bkubectl\s+config\s+view\s[^\n]{0,30}--raw|\bconfigure\s+get\s+aws_secret_access_key",
        r"(?:firefox|mozilla)[^\n]{0,60}logins\.json|(?:Chrome|Chromium|Brave"
        r"|Edge)[^\n]{0,60}Login\\? Data",
    ),
    _shape(
        codes.DATA_SENT_AWAY,
        "curl wget |\x00nc",
        rf"{_FETCH}[^\n]{{0,200}}(?:\$\(|`)\s*(?:env|printenv|whoami|id|hostname"
        rf"|set)\b[^\n]{{0,100}}",
        rf"{_FETCH}[^\n]{{0,200}}[?&/][\w=-]{{0,40}}\$\(\s*(?:cat|base64)\b[^\n]{{0,100}}",
        rf"{_FETCH}[^\n]{{0,200}}(?:-d|--data\S*|-F|--form|-T|--upload-file"
        rf"|--post-file)[^\n]{{0,80}}(?:{_KEYS}|{_ENV_FILE})",
        r"\b(?:env|printenv|history)\s*\|\s*(?:\w+[^|\n]{0,60}\|\s*)?(?:curl|nc|wget)\b"
        r"[^\n]{0,100}(?:https?:|@-|\d{2,5})",
        rf"\b(?:cat|tar)\s[^|\n]{{0,60}}(?:{_KEYS}|~/\.(?:ssh|aws|gnupg)\b|{_ENV_FILE}|secret"
        rf"|credential"
        r"|passw(?:or)?d)[^|\n]{0,40}\|\s*(?:\w+[^|\n]{0,60}\|\s*)?(?:curl|nc|wget)\b",
    ),
    _shape(
        codes.DATA_SENT_AWAY,
        "webhook.site requestbin. pipedream burpcollab oastify interact.sh ![ nslookup dig\x00"
        " os.environ process.env get-content chat\x00history conversation system\x00prompt"
        " 's\x00api\x00key",
        r"!\[[^\]\n]{0,60}\]\(https?://[^\s)]{1,200}[?&][\w-]{1,30}=[{<$\[]{1,3}[\w .]{0,20}"
        r"(?:conversation|history|secret|token|key|prompt|context|message|env)",
        r"https?://webhook\.site/[\w-]{5,}",
        r"https?://(?:[\w-]+\.)*(?:requestbin\.\w+|pipedream\.net|burpcollaborator\.net"
        r"|oastify\.com|interact\.sh)/?\S*",
        r"\b(?:nslookup|dig|host|ping)\s[^\n]{0,60}\$\([^)\n]{1,60}\)\.[\w-]",
        r"\b(?:requests|httpx|session|client)\.(?:post|put|get)\([^\n]{0,200}\b(?:json|data"
        r"|params)\s*=\s*"
        r"(?:\{[^\n]{0,60}:\s*)?(?:dict\(|str\(|json\.dumps\(){0,2}os\.environ(?![\[.])",
        r"\burlopen\([^\n]{0,200}\bos\.environ(?![\[.])",
        r"\bfetch\([^\n,]{0,200}\?[\w=&-]{0,40}[\"'`]?\s*\+\s*process\.env\.\w*(?:KEY|TOKEN"
        r"|SECRET)",
        r"\binvoke-(?:restmethod"
        r"|webrequest)\b[^\n]{0,200}-body\b[^\n]{0,40}get-content[^\n)]{0,60}\.env\b",
        r"\b(?:append|put|add|include|insert|encode)\b[^.\n]{0,40}\b(?:user['’]s \w+ key"
        r"|conversation|chat history|system prompt)\b[^.\n]{0,40}https?://[^\s?]{1,100}\?\S*=",
    ),
    _shape(
        codes.HIDDEN_FROM_USER,
        "from\x00the\x00user from\x00the\x00human from\x00the\x00operator from\x00the\x00developer"
        " tell\x00the telling\x00the inform\x00the informing\x00the notify\x00the notifying\x00the"
        " alert\x00the alerting\x00the let\x00the letting\x00the"
        " to\x00the\x00user to\x00the\x00human to\x00the\x00operator"
        " so\x00the\x00user so\x00the\x00human that\x00the\x00user that\x00the\x00human"
        " the\x00user\x00must the\x00user\x00never keep\x00the\x00user 's\x00knowledge"
        " ’s\x00knowledge 用户 用戶 ユーザー 사용자 nutzer al\x00usuari utilisateur",
        r"\b(?:hide|conceal) (?:this|it|that|these|them|the (?!cursor|spinner|sidebar)\w+"
        r"|all of this)(?: \w+){0,3} from the (?:user|human|operator|developer)s?\b",
        rf"\bkeep (?:\w+ ){{1,4}}(?:secret|hidden|private) from the {_USER}\b(?!\s+interface)",
        rf"{_NOT}(?:(?:tell|inform|notify|alert|telling|informing|notifying"
        rf"|alerting)\s+the\s+{_USER}{_LATER}"
        r"(?=[.,;:!?)\]\"'`*_]|\s*$|\s*\n|\s+(?:about (?:it|this|that|these|them|the|your)\b"
        r"|that (?:you|a|an|the \w+ (?:was|were|has))\b|anything\b|of (?:it|this)\b|and\b|or\b))"
        rf"|let(?:ting)?\s+the\s+{_USER}\s+(?:know|notice|find out|realise|realize|discover"
        rf"|suspect|see (?:this|it|that|these))\b"
        rf"|(?:mention|reveal|disclos|report)(?:e|ing)?\s+(?:(?:this|it|that|these"
        rf"|any of (?:this|it))\s+)?to\s+the\s+{_USER}\b)",
        rf"\bsay nothing\b[^.\n]{{0,40}}\bto the {_USER}\b",
        rf"\bthe {_USER} (?:must|should|may|can)(?:n['’]t| not| never) "
        r"(?:find out|notice|learn|know|realise|realize)\b",
        rf"\b(?:so|make sure|ensure)(?: that)? the {_USER} (?:never|do(?:es)?(?:n['’]t| not)"
        rf"|will(?: not| never)"
        r"|won['’]t|would(?:n['’]t| not)|must(?:n['’]t| not)) (?:notice|know|find out|learn"
        r"|realise|realize|see (?:this|it|that|the (?:request|call|command|change|upload)))s?\b",
        rf"\bthe {_USER} never (?:sees|notices|learns of|finds out about) (?:this|it"
        rf"|the (?:request|call|upload))\b",
        rf"\b(?:stay|remain|kept) (?:invisible|secret|unknown) (?:to|from) the {_USER}\b",
        rf"\bkeep the {_USER} (?:unaware|in the dark|uninformed)\b",
        r"\b(?:copy|send|upload|install|delete|post|share|record|track|store)\b[^.\n]{0,60}"
        rf"\bwithout the {_USER}['’]s knowledge\b",
        r"(?:不要|不得|不能|别|別|勿)(?:告(?:诉|訴)用(?:户|戶)(?!如何|怎|什么|需要|去|在|是否)"
        r"|[让讓]用[户戶](?:知道|发现|發現|察觉|察覺))|(?:对|對)用[户戶]保密|瞒着用户",
        r"(?:ユーザー|利用者)には?(?:知らせ(?:ず|ない)|言わ(?:ず|ない)|伝え(?:ず|ない)|気[づ付]かれ)",
        r"사용자(?:에게|한테)\s?(?:알리지|말하지)\s?(?:말|않)|사용자\s?(?:모르게|몰래)",
        r"\bsag(?:e|t|en)?\s+(?:dem|der)\s+(?:Be)?nutzer(?:in)?\s+nichts\b",
        r"\bno le (?:digas|cuentes|informes|menciones)\b[^.\n]{0,20}\bal usuari[oa]\b",
        r"\bne (?:dis|dites|mentionne[sz]?)\b[^.\n]{0,20}\bà l['’]utilisateur\b",
    ),
    _shape(
        codes.PACKAGE_UNPINNED,
        "npx uvx bunx dlx pipx go\x00run",
        rf"\bnpx\s+(?:-y|--yes)\s+(?:-p\s+|--package[= ])?{_PACKAGE}",
        rf"(?:^|[`$;&|(\"'>]|--|\b(?:exec|sudo|then|do|RUN))\s*(?:uvx|bunx|pnpm\s+dlx|yarn\s+dlx"
        rf"|pipx\s+run)\s+(?:--bun\s+|--python\s+\S+\s+|--with\s+\S+\s+)*(?:--from\s+)?"
        rf"{_NO_NAME}(?![\w./@\[\]-]+==[\w.]){_PACKAGE}",
        rf"[\"']npx[\"']\s*,\s*(?:[\"']args[\"']\s*:\s*\[\s*)?[\"'](?:-y"
        rf"|--yes)[\"']\s*,\s*[\"']{_PACKAGE}",
        r"\bgo run [\w./-]{3,100}@latest\b",
    ),
)
"""The shapes of all kinds of danger but secrets."""
