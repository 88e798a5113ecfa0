"""English."""

from __future__ import annotations

from dense.knowledge.words.categories import Patterns, Phrases, Words

WORDS: Words = {
    "make": """
        create write make produce generate build implement fix repair edit modify update change complete finish output
        export rewrite refactor optimize optimise improve extend patch debug correct add develop draft compose prepare
        design author touch define adjust adapt render alter overwrite reimplement re-implement re-create re-write fill
    """,
    "put": """
        save provide store put place record report log print dump append insert emit document resolve address keep
        persist leave
    """,
    "move": """
        copy move rename convert translate transform compress extract decompress unpack download merge split combine
        concatenate compile encode decode encrypt decrypt migrate port redirect restore recover clone install
    """,
    "read": """
        read parse load use using given see open run execute check verify validate consult inspect review look examine
        analyze analyse process consider find search count list show cat view test compare import evaluate study explore
        explain describe summarize summarise understand solve query scan sort filter take access call invoke
        follow refer visit submit delete remove drop clean
    """,
    "to": "to into as at under onto",
    "in": "in inside within",
    "from": """
        from of with via for about on by against per like between through based according without regarding including
        than contents content
    """,
    "clause": """
        that which who whose where whether if when because while after before until unless once since although though
        whenever so what how why sure
    """,
    "narrated": """
        creates writes makes produces generates builds implements fixes modifies updates changes outputs exports adds
        saves stores puts places records reports logs prints dumps appends copies moves converts extracts downloads
        created wrote made produced generated built implemented fixed modified updated changed exported added
        saved stored placed recorded reported logged printed dumped appended copied moved converted extracted written
        creating writing making producing generating building implementing fixing modifying updating changing exporting
        adding saving storing placing recording copying moving converting outputting editing edited rendered rendering
        reads parses loads uses runs contains includes imports
    """,
    "existing": """
        located found provided described defined listed specified contained available present exists exist existing
        is are was were has have contain holds attached uploaded supplied used shown mentioned documented installed
        containing there
    """,
    "must": "must should shall ensure required mandatory needs never always",
    "weak_must": "never always needs required",
    "modal": "must should shall needs need has have ought",
    "permission": "may might can could optionally",
    "request": "can could would will",
    "negation": """
        not don't dont don’t never avoid without cannot can't can’t doesn't doesn’t mustn't mustn’t shouldn't no neither
        nor
    """,
    "ban": "not never don't don’t",
    "softener": "forget fail only just hesitate need have necessary required",
    "order_start": """
        and or then please also just now finally next first lastly afterwards must should shall additionally simply
        instead therefore second third
    """,
    "no_order_to": """
        script program function tool command class code server app application service endpoint binary utility module
        pipeline solution implementation method api cli process job workflow library bot scripts programs it this they
        which that user users used tried trying fails failed able unable how attempts attempted happens seems appears
        allowed going supposed attempting due
    """,
    "first_person": "i we they he she who",
    "condition": "if when once unless whenever while after before",
    "holds": "contain exist have include hold consist list match define implement export begin start end follow look",
    "becomes": """
        created written generated produced saved placed stored present updated modified valid a an exactly formatted
        executable available built compiled sorted readable encoded the non-empty named called fixed implemented edited
        changed completed in well-formed
    """,
    "describes": """
        is are contains has holds lists was were provides includes describes defines stores implements counts turns
        takes reads computes
    """,
    "folder_noun": "directory folder dir directories folders repository repo project workspace",
    "file_noun": "file binary executable script program document image archive named called",
    "file_list": """
        file files results output outputs artifacts deliverables following documents scripts programs these images
        everything
    """,
    "filler": """
        the a an your this final single new output results result file files path named called is should must be will
        location at in to written full main following
    """,
    "conjunction": "and or the a an file files also both",
    "or": "or",
    "output_heading": "output outputs deliverable deliverables deliver produce create generate write save export",
    "input_heading": """
        input inputs given data provided available resources context background setup environment dataset datasets
    """,
    "aside_heading": """
        example examples usage tips tip hint hints workflow submission submit submitting reproduce reproduction
        traceback error errors log logs versions version stacktrace boundaries command commands response background
        behavior behaviour expected actual
    """,
    "demand_heading": "criteria requirements requirement constraints constraint acceptance success",
    "sample_heading": "expected sample example reference",
    "turn": "now next finally moving",
    "change": """
        change modify edit update fix repair correct adjust adapt rewrite refactor improve extend patch debug optimize
        optimise
    """,
    "literal": """
        key keys column columns header headers field fields named called exactly format formatted prefix begin begins
        start starts end ends contain contains containing print prints output answer title content text string word
        return returns property properties name
    """,
    "field": "key keys column columns header headers field fields title named called",
    "succeeds": """
        must should shall pass passes succeed succeeds work works exit exits verified graded tested checked ensure
    """,
    "passes": "pass passes succeed succeeds works",
    "runs": "run use using execute try with via by",
    "sets_up": """
        start run serve listen host expose launch deploy bind set build create implement write develop make configure
    """,
    "serves": """
        listen listens listening run running accessible available reachable respond responds serve served exposed
        started bind be
    """,
    "no_unit": """
        and or of in on at for to with is are the a an if so then when from by as per but that which where while until
        total each
    """,
}

PHRASES: Phrases = {
    "must": "make sure, has to, have to, needs to be, you need to, be sure",
    "example": "e.g, i.e, for example, for instance, such as, like, similar to, instead of, rather than, ex",
    "but": "however, but, unfortunately, note that, although",
    "limit": """
        at most, at least, no more than, no less than, not more than, less than, fewer than, more than, greater than,
        smaller than, larger than, shorter than, longer than, lower than, higher than,
        under, below, above, over, within, up to, maximum of, minimum of, exceed, exceeding, limit of
    """,
}
PATTERNS: Patterns = {
    "excuse": r"""
        \bpre-?existing\b | \bunrelated\b | \bflaky\b | \b(?:not|n['’]t)\s+(?:related|caused|due)\s+(?:to|by)\b
        | \b(?:without|before|prior\s+to|independent\s+of|nothing\s+to\s+do\s+with)
            \s+(?:my|our|any|the|these|this)\s+(?:\w+\s+)?changes?\b
        | \bknown\s+\w*(?:error|failure|issue|problem)s?\b | \bexpected\s+(?:because|since|due\s+to)\b
        | \balready\s+(?:failing|failed|fails?|broken)\b | \balso\s+fail(?:s|ed|ing)?\s+(?:on|without|before|in)\b
        | \b(?:network|environment(?:al)?|sandbox)\s+(?:issue|problem|error|failure|limitation|restriction)s?\b
        | \b(?:is|are|was|were)\s+(?:the|a|that|another)\s+known\s+(?:\w+\s+)?\w*(?:error|failure|issue|problem|bug)s?\b
        | \b(?:due\s+to|because\s+of)\s+(?:the\s+)?(?:environment|sandbox|running\s+(?:\w+\s+){0,2}as\s+root)\b
        | \bexpected\s+(?:because|since|due\s+to)\b
    """,
    "expected": r"""
        (?<!not\s)\bas\s+(?:we\s+|i\s+|was\s+|is\s+|the\s+\w+\s+)?(?:expected|wanted|wants|intended|desired|required|planned)\b
        | \bexpected\s+(?:error|failure|exception|behaviou?r|result)\b | \b(?:is|was|are)\s+expected\b
        | \b(?:correctly|properly|rightly|now)\s+(?:raise|fail|reject|refuse|throw|error|abort)(?:s|es|ed|ing)?\b
        | \bshould\s+(?:now\s+)?(?:raise|fail|throw|be\s+rejected|error)\b | \bmeant\s+to\s+(?:fail|raise|throw)\b
    """,
    "complaint": r"""
        \b(?:which|this|that|it|results?|outputs?|values?|answer|numbers?|prices?)\s+(?:\w+\s+)?(?:is|are|looks?|seems?)
            \s+(?:still\s+|clearly\s+|obviously\s+|completely\s+)?(?:wrong|incorrect|off|not\s+(?:right|correct))\b
        | \A\W{0,8}(?:THOUGHT:\s*)?(?:better,?\s+but\s+)?still
            \s+(?:wrong|negative|fail\w*|incorrect|not|no|nothing|too|the\s+same|broken|has)\b
        | \A\W{0,8}(?:THOUGHT:\s*)?(?:(?:oh|hmm+)\W{1,3}|wait\W{1,3}(?!for\b|until\b|so\b))
        | \b(?:issue|bug|problem|error)\s+(?:was|is|has|could)\s*(?:not|n['’]t)\s+(?:been\s+|be\s+)?reproduced\b
        | \b(?:did|does)(?:\s+not|n['’]t)\s+(?:print|reproduce|yield|seem\s+to)\b | \bstill\s+yields?\b
        | \bno\s+(?:valid\s+|correct\s+)?(?:flags?|keys?|results?|match(?:es)?|solutions?)\s+(?:was|were)\s+found\b
        | \b(?:that|this|which|it)(?:['’]s|\s+is)\s+(?:very\s+)?(?:unexpected|strange|weird|odd)\b
        | \bbut\s+(?:it|i)\s+(?:is\s+not|do(?:es)?\s+not|do(?:es)?n['’]t|did\s+not|didn['’]t)\b
        | \bbut\s+(?:there\s+(?:is|was)\s+)?no(?:thing|\s+(?:output|results?))\b
        | \A\W{0,8}(?:THOUGHT:\s*)?(?:the\s+)?same\s+(?:wrong\s+)?(?:results?|errors?|problem|issue|outputs?|values?)\b
            (?!\W{0,3}(?:so\b|which\s+(?:confirms|means)|as\s+expected))
        | \b(?:is|are)\s+still\s+(?:at\s+)?(?:wrong|zero|negative|fail\w*|broken|too|not|incorrect|off|\d)
        | \bit\s+still\s+(?:fails?|generates?|gives?|produces?|doesn['’]t|does\s+not|crashes|hangs|returns?)\b
        | \b(?:doesn['’]t|does\s+not|do\s+not|don['’]t|didn['’]t|did\s+not)\s+(?:match|agree\s+with|meet|satisfy
            |take\s+effect|apply\s+(?:any|the|my))\b
        | \b(?:this|that|it)\s+(?:doesn['’]t|does\s+not|didn['’]t)\s+(?:work|help)\b
        | \A\W{0,8}(?:THOUGHT:\s*)?(?:the|my)\s+(?:previous|earlier|last)\s+(?:\w+\s+){0,2}
            (?:attempts?|runs?|patch(?:es)?|scripts?|edits?|fix(?:es)?)\s+(?:have\s+|has\s+)?(?:failed|did\s+not|didn['’]t)\b
        | \bi(?:['’]ve|\s+have)?\s+(?:broke|broken)\b | \b(?:got|is|are|made\s+it)\s+(?:even\s+)?worse\b | \bworsened\b
        | \b(?:is|are)\s+(?:far\s+|way\s+|much\s+)?too\s+(?:slow|low|high|large|small|big|long|inaccurate)\b
        | \bgives?\s+(?:the\s+|a\s+)?wrong\b | \bwhen\s+(?:it|they)\s+should(?:n['’]t|\s+not)\b
        | \bneeds?\s+to\s+(?:get|be|come)\b[^.\n]{0,30}\b(?:under|below|above|within)\s+\S*\d
    """,
    "announcement": r"""
        \A(?!.{0,400}\b(?:if|once|when|unless|please|would\s+you|let\s+me\s+know|next\s+time|in\s+future)\b)
        .{0,400}?(?:^|[.!?:,;`]\s+|\s[-–—]\s+|\n\s*)
        (?:\W{0,3}(?:now|next|then|first|finally|okay|ok|alright|so|great|perfect|good)\W{1,3}){0,2}
        (?:let\s+(?:me|us)|let['’]s|(?:i|we)(?:['’]ll|\s+will|['’]m\s+going\s+to|\s+am\s+going\s+to|\s+need\s+to))\s+
        (?:(?:now|then|next|also|first|just|quickly|have\s+to|proceed\s+to|go\s+ahead\s+and|start\s+by|try\s+to)\s+){0,3}
        (?!know|be\b|wait|summari[sz]e|provide|have|see\b|keep|remember|need|assist|help|leave|stop)[a-z]+
        [^\n]{0,300}\Z
    """,
    "closing": r"""
        \b(?:has|have)\s+(?:now\s+|all\s+)?been\s+(?:successfully\s+)?\w+(?:ed|en|t)\b | \bsuccessfully\s+\w+ed\b
        | \b(?:is|are)\s+(?:now\s+)?(?:complete|completed|done|finished|ready|in\s+place)\b
        | \bi(?:['’]ve|\s+have)\s+(?:now\s+|successfully\s+)?(?:created|written|made|built|fixed|implemented|completed
            |added|updated|finished|saved)\b
        | \A\W{0,8}(?:done|summary|all\s+(?:tests|checks)\s+pass)
    """,
    "admission": r"""
        \b(?:i|we)\s+(?:(?:was|were|am|are|have\s+been)\s+)?(?:still\s+)?(?:could\s?n[o'’]t|could\s+not|cannot|can['’]t|unable\s+to
            |not\s+able\s+to|did\s+not\s+manage\s+to|didn['’]t\s+manage\s+to|failed\s+to)\s+(?:\w+ly\s+)?
            (?:find|recover|determine|solve|complete|finish|identify|locate|extract|decode|decrypt|crack|obtain|retrieve
            |produce|create)\b(?!\s+(?:any|other|evidence|further|more|additional)\b)
        | \b(?:is|are|remains?)\s+still\s+(?:missing|failing|incomplete|broken|unresolved|unsolved|unknown|undetermined
            |not\s+(?:working|complete|done|finished|solved|found|known|implemented|recovered))\b
        | \b(?:was|were)\s+not\s+found\b
            (?!.{0,200}\b(?:so|therefore|instead|created|added|fallback|handled|raise|error)\b)
        | \bno\s+(?:more\s+)?(?:steps|turns|attempts|iterations)\s+(?:are\s+)?(?:left|remaining)\b
        | \b(?:ran|run)\s+out\s+of\s+(?:steps|turns|time|attempts|iterations|budget|tokens)\b
        | \b(?:task|work|solution|implementation|request|problem)\s+(?:is|remains)\s+(?:still\s+)?
            (?:not\s+(?:yet\s+|fully\s+)?(?:complete|completed|done|finished|solved|working)|incomplete|unfinished|unsolved|only\s+partial)
        | \b(?:does|do|is|are)(?:\s+not|n['’]t)\s+(?:\w+\s+)?(?:work|working|solved|done|finished|implemented|complete
            |written|created)\s+yet\b
        | \b(?:i|we)\s+have(?:\s+not|n['’]t)\s+(?:yet\s+)?(?:written|created|produced|implemented|solved|finished)\b
        | \bfinal\s+answer\b\W{1,6}(?:unable|unknown|undetermined|not\s+(?:found|available|determin)|cannot
            |could\s+not|n/a\b|no\s+answer)
    """,
    "wants_passing": r"""
        \b(?:tests?|test\s+(?:suites?|cases?)|specs?)\b(?:\s+\S*[^\s.!?]){0,6}?\s+
            (?:fails?|failing|(?:is|are)\s+(?:\w+\s+)?(?:failing|broken|red)|(?:do|does)(?:\s+not|n['’]t)\s+pass)\b
        | \b(?:failing|broken|red)\s+(?:\w+\s+){0,2}(?:tests?|specs?|test\s+(?:suites?|cases?))\b
        | \b(?:so\s+that|until|make|get|have|let|to\s+have|ensure(?:\s+that)?|(?:make|be)\s+sure(?:\s+that)?)\s+
            (?:\S*[^\s.!?]\s+){0,6}?(?:tests?|specs?|test\s+(?:suites?|cases?))\b(?:\s+\S*[^\s.!?]){0,6}?\s+
            (?:pass(?:es|ing)?|succeeds?|(?:is|are|go|goes)\s+green)\b
    """,
    "tests_pass": r"""
        \b(?:tests?|specs?|checks?|(?:test\s+)?suites?)\b(?:\s+\S*[^\s.!?]){0,5}?\s+
            (?:pass(?:es|ed|ing)?|succeed(?:s|ed)?|(?:is|are)\s+(?:\w+\s+)?(?:green|successful))\b
        | `[^`\n]*\b(?:test|tests|check|pytest|unittest|jest)\b[^`\n]*`\s+(?:now\s+)?(?:passes|succeeds|is\s+green)\b
        | \b(?:everything|all)\s+(?:is\s+|now\s+|\w+\s+)?(?:pass(?:es|ed|ing)?|green)\b
        | \b\d+\s*/\s*\d+\s+(?:\w+\s+)?(?:tests?|specs?|checks?)?\s*pass\w*
        | \b(?:no|0|zero)\s+(?:\w+\s+)?(?:failures|tests?\s+fail\w*|failing\s+tests?|failed)\b
    """,
    "tests_fail": r"""
        (?<!\bno\s)(?<!\b0\s)(?<!\bzero\s)(?:\b(?:tests?|specs?|checks?|one|two|three|some|cases?|it|which|that|\d+)\s+
            (?:of\s+\S+\s+|\w+\s+){0,3}?(?:still\s+)?(?:fail(?:s|ing)?|do(?:es)?\s*n[o'’]t\s+pass)\b
        | \bstill\s+(?:fails?|failing|broken|red)\b | \bexcept\b | \bnot\s+(?:all|every)\b
        | \b(?:not|n['’]t|never)\s+(?:\w+\s+){0,3}(?:re-?)?(?:r[au]n|pass|tested|verified)\b
        | \b(?:should|would|will|expected?\s+to|ought\s+to|might|may)\s+(?:\w+\s+)?pass\b | \bbut\b[^.\n]{0,60}\bfail)
    """,
    "closing_doubt": r"""
        \b(?:does|do|did)(?:\s+not|n['’]t)\s+(?:yet\s+|fully\s+|exactly\s+)?(?:match|agree|reproduce|converge)\b
        | \b(?:could\s?n[o'’]t|could\s+not|cannot|can['’]t|unable\s+to|not\s+able\s+to)\s+(?:be\s+)?(?:\w+ly\s+)?
            (?:verif|test|confirm|run|check|validat)
        | \b(?:is|are|was|were|has|have)\s+not\s+(?:been\s+)?(?:verified|tested|checked|confirmed|validated)\b
        | \b(?:untested|unverified)\b
        | \b(?:may|might)\s+not\s+(?:be\s+(?:the\s+)?(?:exact|correct|right|complete|accurate)|work)\b
        | \b(?:best|educated)\s+guess\b
    """,
    "missing": r"""
        \b(?:cannot|can't|could\ not|couldn't|unable\ to|missing|(?:does|do)\ not\ (?:exist|work|pass)|not\ yet
        |unfinished|incomplete|(?:is|are)\ not\ (?:there|available|installed|possible|done|complete|completed|finished
        |implemented|written|made))\b
    """,
    "next": r"""
        (?:(?:now|so|next|then|finally|ok(?:ay)?|great|good|perfect|first)[,.!:]?\s+)*(?:let(?:'s|\ me|\ us)\b
        |calling\b|time\ to\b|(?:i|we)(?:'ll|\ will|\ should|\ need|\ am\ going|\ are\ going|'m\ going|'re\ going
        |\ can\ now|\ want)\b|please\ proceed)
    """,
    "thinking_aloud": r"""
        (?:(?:oh|ah|but|so)[, ]+)?(?:wait|hmm+|hm|ah|oh)\b
    """,
    "musing": r"""
        (?:actually|maybe|perhaps|let'?s\ see|should\ i|do\ i)\b
    """,
    "claim": r"""
        \b(?:done|ready|correct\w*|complete\w*|success\w*|works?|working|fixed|fine|good|great|perfect|present|gone
        |verified|submit\w*|finished|confirm\w*|expected|solved|flag|fertig|terminé|listo|готово)\b|完了|完成|完毕|完畢
    """,
    "done_prefix": r"""
        (?:(?:done|ready|great|perfect|finished)|i(?:'m|\ am)\ (?:done|ready)[^.!]{0,30})[.!]\s+
    """,
    "intention": r"""
        \b(?:i(?:['’]ll|\ will|['’]m\ going\ to|\ am\ going\ to)|let(?:\ me|['’]s|\ us)|we(?:['’]ll|\ will)
        |to\ (?:fix|do|test|verify|check|confirm|reproduce)\ (?:this|that|it))\b
    """,
    "lead_in": r"""
        \A(?:(?:now|so|next|then|first|finally|ok(?:ay)?),?\s+)?(?:i(?:['’]ll|\ will)|let(?:['’]s|\ me|\ us)
        |we(?:['’]ll|\ will))\s+|\A(?:please|kindly|bitte|por\ favor|s'il\ vous\ pla[iî]t)[,:]?\s+
    """,
}
