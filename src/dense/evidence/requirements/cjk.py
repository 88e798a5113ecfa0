"""The role of a file in Chinese, Japanese and Korean sentences: the verb before it, or the particle and verb behind."""

from __future__ import annotations

import re

from dense.evidence.requirements.requirement import Role

SCRIPT = re.compile(r"[぀-ヿ㐀-鿿가-힯]")
BREAK = re.compile(r"[，。；、,;？！]")

ZH_BAN = ("不要", "不得", "请勿", "禁止", "勿", "不能", "不可", "别", "不許", "不应", "无需", "不用")
ZH_MAKE = tuple(
    """
    写入 写到 写进 写在 写成 保存到 保存为 保存至 保存在 存到 存为 存入 存储到 输出到 输出至 输出为 导出到 导出为
    创建 新建 生成 编写 修改 修复 实现 更新 完成 编辑 寫入 儲存到 建立 產生 修正 记录到 放到 放在 放入 制作 产出
""".split()
)
ZH_READ = tuple(
    """
    读取 根据 使用 从 打开 分析 解析 给定 参考 查看 读 利用 基于 通过 按照 加载 运行 执行 已有 提供 對 对 讀取 參考
""".split()
)
ZH_AFTER_MAKE = re.compile(
    r"\s*(?:文件|檔案)?\s*(?:中|里|內|内)?\s*(?:必须|应该|应当|应|需要|需|要)?\s*(?:包含|存在|实现|编写|添加|修复|写入|写出|创建)"
)
ZH_AFTER_READ = re.compile(r"\s*(?:文件|檔案)?\s*(?:中|里|內|内)\s*(?:的|有|包含|存)|\s*(?:文件)?\s*(?:是|已经|包含)")
NAMED = re.compile(
    r"[\s`「」『』“”\"'：:]|文件|檔案|名为|一个|一個|叫做|ファイル|파일|路径|脚本|目录|下的?|里的?|中的?"
)

JA_AFTER = re.compile(
    r"[\s`」』”\"']*(?:という(?:名前の)?|の)?\s*(?:ファイル|スクリプト)?\s*(?P<particle>に|へ|として|を|から|の)(?P<rest>.{0,18})"
)
JA_PUT = re.compile(r"書|保存|出力|記録|格納|実装|追加|作成|生成|エクスポート")
JA_MAKE = re.compile(r"作成|生成|修正|更新|変更|実装|編集|作っ|作り|作る|書い|書き|完成|直し|アップデート|改善|出力")
JA_READ = re.compile(r"読|使|参照|元|開|解析|分析|確認|見|実行|調べ")
JA_BAN = re.compile(r"ないで|しない|せず|禁止|ないこと|なく|てはいけ|てはなら")

KO_AFTER = re.compile(
    r"[\s`”\"']*(?:이라는|라는)?\s*(?:파일|스크립트)?\s*(?P<particle>에서|에|로|으로|을|를|의)(?P<rest>.{0,18})"
)
KO_PUT = re.compile(r"저장|쓰|써|작성|출력|기록|구현|추가|생성|만들")
KO_MAKE = re.compile(r"만들|생성|작성|수정|고치|고쳐|구현|업데이트|변경|편집|완성")
KO_READ = re.compile(r"읽|사용|열|분석|참고|참조|확인|실행")
KO_BAN = re.compile(r"지 마|지마|않|금지|없이")


def cjk_role(left: str, right: str) -> Role | None:
    """The role of a name between these two parts of a sentence, or None where neither tells."""
    if found := JA_AFTER.match(right):
        if SCRIPT.search(found["rest"]) and (role := _japanese(found["particle"], _clause(found["rest"]))):
            return role
    elif (found := KO_AFTER.match(right)) and (role := _korean(found["particle"], _clause(found["rest"]))):
        return role
    return _chinese(left, right)


def _clause(text: str) -> str:
    stop = BREAK.search(text)
    return text[: stop.start()] if stop else text


def _japanese(particle: str, rest: str) -> Role | None:
    if particle == "から":
        return "given"
    if particle == "の":
        return None
    verbs = JA_MAKE if particle == "を" else JA_PUT
    if (verb := verbs.search(rest)) and not ((read := JA_READ.search(rest)) and read.start() < verb.start()):
        return "forbidden" if JA_BAN.search(rest) else "deliverable"
    if JA_READ.search(rest):
        return "forbidden" if JA_BAN.search(rest) else "given"
    return None


def _korean(particle: str, rest: str) -> Role | None:
    if particle == "에서":
        return "given"
    if particle == "의":
        return None
    verbs = KO_MAKE if particle in "을를" else KO_PUT
    if (verb := verbs.search(rest)) and not ((read := KO_READ.search(rest)) and read.start() < verb.start()):
        return "forbidden" if KO_BAN.search(rest) else "deliverable"
    if KO_READ.search(rest):
        return "forbidden" if KO_BAN.search(rest) else "given"
    return None


def _chinese(left: str, right: str) -> Role | None:
    start = max((stop.end() for stop in BREAK.finditer(left[-40:])), default=0)
    near = left[-40:][start:]
    make = max((near.rfind(verb) + len(verb) for verb in ZH_MAKE if verb in near), default=-1)
    read = max((near.rfind(verb) + len(verb) for verb in ZH_READ if verb in near), default=-1)
    if any(ban in near for ban in ZH_BAN) and (make >= 0 or read >= 0):
        return "forbidden"
    if make > read:
        # The verb must reach the name: 创建一个名为 X 的文件, but not 创建从 X 读取的脚本.
        return (
            "deliverable"
            if not NAMED.sub("", near[make:]) and not right.lstrip("`」』 ").startswith(("中的", "里的"))
            else None
        )
    if read >= 0:
        return "given"
    if ZH_AFTER_READ.match(right):
        return "given"
    if ZH_AFTER_MAKE.match(right):
        return "deliverable"
    return None
