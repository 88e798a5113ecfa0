"""Japanese: stems that come behind a name, because the verb ends the sentence."""

from __future__ import annotations

CHANGES = tuple(
    """
    作成 生成 修正 更新 変更 実装 編集 作っ 作り 作る 書い 書き 書く 完成 直し
    アップデート 改善 出力 保存 記録 格納 追加 エクスポート
""".split()
)
"""Verbs that make or change a file."""
BANS = tuple("ないで しない せず 禁止 ないこと なく てはいけ てはなら".split())
DEMANDS = tuple("しなければ 必要が べき てください すること".split())
