"""Vocabulary of descriptions: words for actions, words for occasions and empty phrases.

English, Chinese, Japanese and Korean each have their own words. A description in any other
language is not judged, because a missing word means nothing there.
"""

import re
from collections.abc import Iterable

from catalog.text.search_terms import CJK_RUN, CJK_WEIGHT

_WORD = re.compile("[a-z]{2,}")
_LEADING = re.compile(r"(?:^|[.!?:;\u2013\u2014]\s|\b(?:to|that|which)\s)\s*([a-z]{2,})")
_SAYS_LITTLE = re.compile(
    r"\b(?:help|deal|work|assist)(?:s|ing)? (?:\w+ )?(?:with|in)\b"
    r"|\b(?:handl|manag|process|support|provid|facilitat)(?:es?|ing|s)?\b"
)
_ENGLISH = frozenset(
    "and by do for from how into of or that the this to use used using when with you your".split()
)
_WORDS_TO_ONE = 12  # a text with at least one of these in so many words counts as English


def _forms(verbs: str) -> frozenset[str]:
    """Return the verbs with their regular or nearly regular endings."""
    forms: set[str] = set()
    for verb in verbs.split():
        stem = verb[:-1] if verb[-1] in "ey" else verb
        plural = f"{stem}ies" if verb[-1] == "y" else f"{verb}es"
        double = verb + verb[-1]
        forms |= {
            verb,
            f"{verb}s",
            plural,
            f"{verb}ing",
            f"{verb}ed",
            f"{stem}ing",
            f"{stem}ed",
            f"{stem}ied",
            f"{double}ing",
            f"{double}ed",
        }
    return frozenset(forms)


_ALSO_NOUNS = _forms("""
    answer ask audit author back benchmark build bump call capture change chart clean commit count
    crawl cut
    design document download draft draw edit estimate export file filter fix format group guide
    import index lint list load log look make map mark measure monitor mount move open order
    package pass pick plan plot post print profile prompt query rank rate record report request
    research review route run scaffold scan schedule search set share show sign sketch sort split
    stage start store structure surface sync tag test trace track train triage turn update upgrade
    upload view walk watch
""")
"""Counted as verbs only at the start of a sentence, or after "to" and "that" …"""

_CONCRETE = (
    _forms("""
    activate add aggregate align analyse analyze annotate append apply arrange assemble assign
    authenticate automate bootstrap bring calculate categorise categorize check classify collect
    combine compare compile compose compress compute configure connect convert create crop debug
    decide decode decompose deduplicate define delete deploy describe detect diagnose disable
    discover divide embed enable encode encrypt enforce enrich evaluate examine execute explain
    extract fetch fill find flash generate get give identify implement improve infer ingest
    initialise initialize inject insert inspect install instrument integrate interview investigate
    invoke isolate join launch learn locate maintain merge migrate minify modify normalise normalize
    notify optimise optimize orchestrate organise organize paginate parse perform predict prepare
    prevent prioritise prioritize produce propose prove provision publish push read rebase recommend
    reconcile refactor remove rename render reorganise repair replace reply reproduce resize resolve
    restore retrieve return reverse rewrite rotate save scrape select send serialise serialize
    simplify simulate solve standardise standardize strip submit subscribe suggest summarise
    summarize synchronise synchronize take teach tell transcribe transform translate troubleshoot
    tune understand validate verify visualise visualize warn wrap write
""")
    | frozenset("built makes making made gave given ran took wrote written found".split())
    | {
        form
        for form in _ALSO_NOUNS
        if form.endswith(("ing", "ed"))  # … but always with these endings
    }
)
_NOT_ACTIVITIES = frozenset(
    """
    according anything being during engineering everything existing following handling having
    helping including something managing nothing pricing processing providing supporting string
    thing things using working dealing assisting facilitating interesting missing offering
    incoming outgoing ongoing upcoming
""".split()
)

_NOT_DONE = frozenset(
    """
    action actions application applications automation collection collections connection
    connections direction documentation duration exception fraction function functions information
    location locations organization organizations section sections station transaction version
    versions
""".split()
)
"""Nouns that end like those of activities, such as "conversion", but name things."""

_WHEN_WORDS = frozenset(
    """
    after ask asked asking asks before if mention mentioned mentioning mentions trigger triggered
    triggers upon use used using wants wanted when whenever wherever while invoke invoked
    needs needing
""".split()
)
_OCCASION = re.compile(
    r"\b(?:call|run) (?:it|this)\b|\be\.g\.|\bfor (?:any|every|each|people|users|teams|anyone"
    r"|those)\b"
    r"|\b(?:useful|ideal|handy|suited|meant) (?:for|to)\b"
)
_IN_WORDS = frozenset(
    """
    accept accepts from given input inputs parse parses read reads receive receives take takes based
    analyse analyses analyze analyzes check checks classifies classify compare compares evaluate
    evaluates extract extracts inspect inspects measure measures review reviews score scores
    questions summarise summarises summarize summarizes validate validates convert converts
    transform
    transforms turn turns translate translates
""".split()
)
_OUT_WORDS = frozenset(
    """
    answer answers as build builds create creates emit emits flag flags generate generates give
    gives into list lists output outputs plot plots print prints produce produces report reports
    return returns to write writes yield yields
""".split()
)

_CJK_CONCRETE = tuple(
    """
    提取 抽取 转换 轉換 生成 分析 创建 建立 編寫 编写 撰写 检查 檢查 验证 驗證 翻译 翻譯 总结
    總結 摘要 整理 汇总 彙總 比较 比較 计算 計算 查询 查詢 搜索 搜尋 读取 讀取 写入 寫入 导出
    匯出 导入 匯入 合并 合併 拆分 识别 識別 检测 檢測 部署 构建 建構 测试 測試 审查 審查 修复
    修復 优化 優化 重构 重構 设计 設計 绘制 繪製 统计 統計 渲染 下载 下載 上传 上傳 发送 發送
    记录 記錄 评估 評估 制定 规划 規劃 排序 筛选 篩選 清洗 校对 校對 改写 改寫 列出 返回 输出
    輸出 安装 安裝 配置 运行 執行 执行 诊断 診斷 监控 監控 填写 填寫 转成 变成 写出 抽出 変換
    作成 検証 要約 検索 読み取 読み込 書き込 書き出 出力 取得 集計 計測 整形 保存 修正 追加 削除
    確認 調べ 作り 作る まとめ 比べ 探し 実装 構築 実行 診断 最適化 設定 翻訳 解析 評価 추출
    변환 생성 작성 분석 검토 검사 검증 번역 요약 계산 조회 검색 읽 쓰 내보내 가져오 병합 비교
    배포 구축 테스트 수정 최적화 설계 정리 기록 평가 설치 실행 진단 만들 찾 저장
""".split()
)
_CJK_LITTLE = tuple(
    """
    处理 處理 帮助 幫助 协助 協助 管理 支持 支援 提供 处置 扱 助け 手伝 サポート 提供 処理 처리
    도움 돕 관리 지원 제공
""".split()
)
_CJK_WHEN = re.compile(
    "用于|用於|用来|用來|使用|适用|適用|场景|場景|当(?!前|地|然|下|日)|當(?!前|地|然|下|日)|时候|時候|需要"
    "|触发|觸發|调用|調用|如果|之前|之后|之後|要求|想要|输入|輸入|输出|輸出|返回"
    "|とき|時|際|場合|ため|たら|必要|前に|後に|入力|出力|依頼"
    "|때|사용|경우|위해|위한|필요|요청|호출|전에|후에|입력|출력|활용|용도|시 "
)

_TOOL = r"(?:skill|tool|helper|utility|assistant|agent|way|solution)s?\b"
_GENERIC = re.compile(
    rf"\b(?:useful|helpful|powerful|great|handy|awesome|must-have|general[- ]purpose) {_TOOL}"
    r"|\b(?:various|many) (?:tasks|things)\b|\b(?:do|does|for|many|several) different tasks\b"
    r"|\ball (?:kinds|sorts) of (?:things|tasks|stuff|work|problems|jobs|files|data|documents"
    r"|needs)\b"
    r"|\b(?:and|other|more|some) stuff\b|\band (?:much|many) more\b|\band so on\b"
    r"|\b(?:best-in-class|world-class|cutting-edge|game-changing)\b"
    r"|\bone-stop (?:shop|solution|skill|tool|place)\b|\banything and everything\b"
    r"|\bdoes everything\b|\ba skill for everything\b|\banything you need\b"
)
_GENERIC_CJK = (
    "有用的技能",
    "实用技能",
    "實用技能",
    "强大的技能",
    "強大的技能",
    "强大的工具",
    "強大的工具",
    "万能",
    "萬能",
    "各种任务",
    "各種任務",
    "各种事情",
    "一站式",
    "等等功能",
    "便利なスキル",
    "役立つスキル",
    "強力なツール",
    "さまざまなタスク",
    "様々なタスク",
    "유용한 스킬",
    "강력한 도구",
    "다양한 작업",
)


def weight(text: str) -> int:
    """Return the length in characters, with each CJK character weighted by `CJK_WEIGHT`."""
    if text.isascii():
        return len(text)
    wide = sum(map(len, CJK_RUN.findall(text)))
    return len(text) + (CJK_WEIGHT - 1) * wide


def vague_verb(text: str) -> str | None:
    """Return the weak verb of a text without a concrete one, or "" if it has no verb at all.

    None if the text has a concrete verb, or is in a language that is not judged.
    """
    lower = text.lower()
    words = _WORD.findall(lower)
    if _does_something(lower, words):
        return None
    if not text.isascii() and CJK_RUN.search(text):
        return _first_in(text, _CJK_LITTLE) if not _first_in(text, _CJK_CONCRETE) else None
    weak = _SAYS_LITTLE.search(lower)
    if weak:
        return weak[0]
    return "" if _is_english(words) else None


def says_when(text: str) -> bool:
    """Return whether a text names the occasion for the skill, or its input and output.

    True if the text is in a language that is not judged.
    """
    if not text.isascii() and CJK_RUN.search(text):
        return bool(_CJK_WHEN.search(text)) or _english_says_when(_WORD.findall(text.lower()))
    lower = text.lower()
    words = _WORD.findall(lower)
    return _english_says_when(words) or bool(_OCCASION.search(lower)) or not _is_english(words)


def generic_phrase(text: str) -> str | None:
    """Return a phrase of the text that fits any other skill as well."""
    lower = text.lower()
    match = _GENERIC.search(lower)
    return match[0] if match else None if lower.isascii() else _first_in(lower, _GENERIC_CJK)


def _does_something(lower: str, words: list[str]) -> bool:
    if not _CONCRETE.isdisjoint(words):
        return True
    if not _ALSO_NOUNS.isdisjoint(_LEADING.findall(lower)):
        return True
    return any(
        word.endswith(("ing", "ize", "izes", "ise", "ises", "ify", "ifies"))
        and len(word) > 5
        and word not in _NOT_ACTIVITIES
        for word in words
    ) or any(word.endswith(("ation", "ction", "rsion")) and word not in _NOT_DONE for word in words)


def _english_says_when(words: list[str]) -> bool:
    if not _WHEN_WORDS.isdisjoint(words):
        return True
    return not (_IN_WORDS.isdisjoint(words) or _OUT_WORDS.isdisjoint(words))


def _is_english(words: list[str]) -> bool:
    return _WORDS_TO_ONE * sum(word in _ENGLISH for word in words) >= max(len(words), 1)


def _first_in(text: str, phrases: Iterable[str]) -> str | None:
    return next((phrase for phrase in phrases if phrase in text), None)
