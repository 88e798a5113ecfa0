"""The words that tell what a name is there for, in the larger languages of instructions.

A word that is missing here only makes the rules say less. Chinese, Japanese and Korean, which put no spaces between
words or hang the verb behind the name, are in `cjk.py`."""

from __future__ import annotations

from typing import Literal

Cue = Literal[
    "make",  # makes or changes what it names: create X, fix X; also "… in X", "… to X"
    "put",  # puts something else there: save … to X, report … in X
    "move",  # takes what it names elsewhere: copy given.txt to X
    "read",  # uses what it names
    "to",  # to, into, as: where something goes
    "in",  # in, inside: where something goes, or where it is
    "from",  # from, of, with: what something is taken from
    "stop",  # begins another clause: that, which, because
    "told",  # tells of a making instead of asking for it: creates, wrote
    "there",  # says that it exists: located, given, described
]

ENGLISH: dict[Cue, str] = {
    "make": """
        create write make produce generate build implement fix repair edit modify update change complete finish output
        export rewrite refactor optimize optimise improve extend patch debug correct add develop draft compose prepare
        design author touch define adjust adapt render
    """,
    "put": """
        save provide store put place record report log print dump append insert emit document resolve address keep
        persist
    """,
    "move": """
        copy move rename convert translate transform compress extract decompress unpack download merge split combine
        concatenate compile encode decode encrypt decrypt migrate redirect restore recover clone
    """,
    "read": """
        read parse load use using given see open run execute check verify validate consult inspect review look examine
        analyze analyse process consider find search count list show cat view test compare import evaluate study explore
        explain describe summarize summarise understand solve query scan sort filter take access call invoke install
        follow refer visit submit delete remove drop clean
    """,
    "to": "to into as at under onto",
    "in": "in inside within",
    "from": """
        from of with via for about on by against per like between through based according without regarding including
        than contents content
    """,
    "stop": """
        that which who whose where whether if when because while after before until unless once since although though
        whenever so what how why
    """,
    "told": """
        creates writes makes produces generates builds implements fixes modifies updates changes outputs exports adds
        saves stores puts places records reports logs prints dumps appends copies moves converts extracts downloads
        created wrote made produced generated built implemented fixed modified updated changed exported added
        saved stored placed recorded reported logged printed dumped appended copied moved converted extracted written
        creating writing making producing generating building implementing fixing modifying updating changing exporting
        adding saving storing placing recording copying moving converting outputting editing edited rendered rendering
        reads parses loads uses runs contains includes imports
    """,
    "there": """
        located found provided described defined listed specified contained available present exists exist existing
        is are was were has have contain holds attached uploaded supplied used shown mentioned documented installed
        containing stored-in there
    """,
}

FOREIGN: dict[Cue, str] = {
    # German, French, Spanish, Portuguese, Italian, Russian, Polish, Dutch, Turkish
    "make": """
        schreibe schreib schreiben erstelle erstell erstellen erzeuge erzeugen generiere generieren ändere ändern
        korrigiere korrigieren behebe beheben repariere reparieren implementiere implementieren ergänze ergänzen
        aktualisiere aktualisieren exportiere exportieren bearbeite bearbeiten verbessere überarbeite baue lege écris
        écrivez écrire crée créez créer génère générez générer produis produisez produire modifie modifiez modifier
        corrige corrigez corriger répare réparez implémente implémentez implémenter ajoute ajoutez ajouter exporte
        exportez mets mettez rédige rédigez construis escribe escriba escribir crea cree crear genera genere generar
        produzca modifica modifique modificar corrija corregir arregla arregle implementa implemente implementar
        actualiza actualice actualizar exporta añade añada redacta construye modifiques cambies edites toques escreva
        escrever crie criar gere gerar produza modifique corrija corrigir conserte implemente atualize atualizar
        adicione redija construa altere scrivi scrivere creare generare produci correggi implementare aggiorna
        aggiungi напиши напишите создай создайте создать сгенерируй сгенерируйте исправь исправьте исправить измени
        измените обнови обновите реализуй реализуйте реализовать добавь добавьте отредактируй почини написать изменяй
        изменяйте редактируй редактируйте трогай трогайте napisz utwórz stwórz wygeneruj popraw zmień zaktualizuj
        schrijf maak genereer wijzig oluştur yaz düzelt
    """,
    "put": """
        speichere speicher speichern gib lege leg trage enregistre enregistrez enregistrer sauvegarde sauvegardez
        sauvegarder stocke stockez place placez guarda guarde guardar almacena almacene coloca coloque pon ponga
        registra salve salvar grave gravar armazene salva salvare
        запиши запишите записать сохрани сохраните сохранить выведи выведите помести поместите zapisz opslaan kaydet
    """,
    "move": """
        kopiere kopieren verschiebe konvertiere konvertieren wandle übersetze entpacke copie copiez déplace déplacez
        convertis convertissez traduis renomme renommez copia copie convierte convierta mueve mueva traduce renombra
        renombre converta mova traduza renomeie скопируй скопируйте переименуй переименуйте преобразуй преобразуйте
        переведи
    """,
    "read": """
        lies lesen lade laden verwende verwenden nutze nutzen benutze öffne öffnen prüfe untersuche analysiere
        lis lisez lire charge chargez utilise utilisez utiliser ouvre ouvrez analyse analysez vérifie vérifiez
        lee lea leer usa utiliza utilice utilizar abre abra carga cargue analiza analice revisa revise
        leia ler utilize abra carregue analise verifique leggi leggere usare
        прочитай прочитайте прочти прочтите прочитать используй используйте открой откройте загрузи загрузите
        проанализируй проанализируйте проверь проверьте посмотри przeczytaj użyj otwórz lees gebruik oku kullan
    """,
    "to": "nach als unter vers sous comme para como hacia en sur под как naar jako",
    "in": "im ins dans em no na nella nel в во w",
    "from": """
        aus von mit anhand für über depuis avec pour du des de selon desde del con según com dal della
        per из от с со для по z ze van met uit
    """,
    "stop": """
        dass welche welcher welches weil wenn falls que qui dont lorsque quand parce si cuando donde porque quando onde
        se который которая которые что если когда чтобы che
    """,
    "there": """
        gegeben befindet liegt enthält steht beschrieben vorhanden ist sind existe contient contiene contém está están
        est sont donné fourni dado dada es são находится лежит содержит есть дан
    """,
    "told": "schreibt erstellt speichert écrit génère-t escribió создает записывает сохраняет",
}


def _table() -> dict[str, Cue]:
    table: dict[str, Cue] = {}
    for words in (ENGLISH, FOREIGN):
        for cue, text in words.items():
            for word in text.split():
                table.setdefault(word, cue)
    return table


CUES = _table()
PLAIN_IMPERATIVES = frozenset(
    word for cue in ("make", "put", "move", "read") for word in FOREIGN[cue].split() if CUES[word] == cue
)
"""Forms that are orders wherever they stand. The English ones are nouns and infinitives as well."""

NEGATIONS = frozenset(
    """
    not don't dont don’t never avoid without cannot can't can’t doesn't doesn’t mustn't mustn’t shouldn't nicht niemals
    ohne keine kein ne pas sans jamais nunca sin não nao sem non не без нельзя никогда nie zonder niet no neither nor
""".split()
)
SOFTENERS = frozenset(
    """
    forget fail only just hesitate need have necessary required vergiss oublie oubliez olvides esqueça
""".split()
)
"""After a negation these turn it round, or make it no ban."""
CHANGING = frozenset(
    """
    changing modifying editing altering touching deleting removing overwriting using reading importing renaming moving
    breaking rewriting opening accessing updating
""".split()
)
BANNED = frozenset(
    """
    touch alter delete remove overwrite rename move modifiques modifiquez ändert verändern verändere
""".split()
)

MODALS = frozenset(
    """
    must should shall needs need has have ought muss müssen soll sollen sollte darf doit doivent devra debe deben deberá
    deve devem должен должна должно должны deverá moet powinien musi
""".split()
)
HOLDS = frozenset(
    """
    contain exist have include hold consist list match define implement export begin start end follow look enthalten
    existieren bestehen haben sein contenir exister être avoir contener existir estar ser tener incluir conter ter
    содержать существовать быть иметь include bevatten zawierać
""".split()
)
BECOMES = frozenset(
    """
    created written generated produced saved placed stored present updated modified valid a an exactly formatted
    executable available built compiled sorted readable encoded the non-empty named called fixed implemented edited
    changed completed in well-formed erstellt geschrieben gespeichert erzeugt angelegt créé écrit generado creado criado
    gerado создан записан
""".split()
)
EXISTENCE = frozenset("exists contains has includes holds existiert enthält existe contient contiene contém".split())
DESCRIBES = frozenset(
    """
    is are contains has holds lists was were provides includes describes defines stores implements counts turns takes
    reads computes ist sind enthält hat liegt est contient a es contiene tiene é contém есть содержит
""".split()
)
UNCHANGED = frozenset(
    """
    unchanged untouched intact unmodified unverändert inchangé inchangés intacto intactos неизменным
""".split()
)

PROGRAMS = frozenset(
    """
    script program function tool command class code server app application service endpoint binary utility module
    pipeline solution implementation method api cli process job workflow library bot scripts programs it this they
    which that user users
""".split()
)
"""What does things when it is run: what it writes is not what the agent is to write."""
FOLDER_WORDS = frozenset(
    """
    directory folder dir directories folders repository repo project workspace ordner verzeichnis dossier répertoire
    carpeta directorio pasta diretório папка папку папке каталог cartella
""".split()
)
FILE_WORDS = frozenset(
    """
    file binary executable script program document image archive named called datei fichier archivo arquivo ficheiro
    файл файле файла plik bestand
""".split()
)
FILLERS = frozenset(
    """
    the a an your this final single new output results result file files path named called is should must be will
    location expected-output at in to written full main following der die das le la les el los o os den dem eine ein un
    une una um uma
""".split()
)

HOLDING = frozenset(
    """
    with containing holding listing showing having mit avec contenant con com contendo conteniendo met с со z ze ile
""".split()
)
"""What leads from a file that is asked for to what it is to hold."""
OUTPUT_WORDS = frozenset(
    """
    output outputs deliverable deliverables deliver produce create generate write save ausgabe ausgaben ergebnis
    ergebnisse sortie sorties résultat salida salidas resultado resultados saída saídas entregables вывод результат
    результаты выходные uitvoer wynik wyjście
""".split()
)
INPUT_WORDS = frozenset(
    """
    input inputs given data provided available resources context background setup environment dataset datasets eingabe
    eingaben daten entrée entrées données entrada entradas datos dados входные вход данные
""".split()
)
ASIDE_WORDS = frozenset(
    """
    example examples usage tips tip hint hints workflow submission submit submitting reproduce reproduction traceback
    error errors log logs versions version stacktrace boundaries command commands response background beispiel
    exemple ejemplo exemplo пример behavior behaviour expected actual
""".split()
)
DEMAND_WORDS = frozenset(
    """
    criteria requirements requirement constraints constraint acceptance success anforderungen exigences requisitos
    restricciones требования ограничения
""".split()
)
SAMPLE_WORDS = frozenset("expected sample example reference erwartete attendu esperado".split())
CONDITIONS = frozenset(
    """
    if when once unless whenever while wenn falls si cuando se quando если когда als after before
""".split()
)
BAD_BEFORE_TO = frozenset(
    """
    used tried trying fails failed able unable how attempts attempted happens seems appears allowed going supposed
    attempting due i we it they he she want wanted like
""".split()
)
STARTERS = frozenset(
    """
    and or then please also just now finally next first lastly afterwards must should shall , ; : ( ) — ! ? additionally
    simply und dann bitte et puis y luego e depois и затем пожалуйста instead therefore second third
""".split()
)
ASKED = frozenset("can could would will kannst könntest".split())
ENDS_UP = frozenset("go land end live reside belong".split())
"""Where something goes that is to be there: it must end up in X."""
FIXERS = frozenset("fix repair debug correct resolve address behebe corrige исправь".split())
