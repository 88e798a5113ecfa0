"""Languages that no recorded trace is in: only the words that decide the role of a file in a task.

A word that is missing here makes DENSE say less, not something wrong."""

from __future__ import annotations

from dense.knowledge.words.categories import Words

GERMAN: Words = {
    "make": """
        schreibe schreib schreiben erstelle erstell erstellen erzeuge erzeugen generiere generieren ändere
        ändern korrigiere korrigieren behebe beheben repariere reparieren implementiere implementieren ergänze
        ergänzen aktualisiere aktualisieren exportiere exportieren bearbeite bearbeiten verbessere überarbeite
        baue lege
    """,
    "put": "speichere speicher speichern gib leg trage",
    "move": "kopiere kopieren verschiebe konvertiere konvertieren wandle übersetze entpacke",
    "read": "lies lesen lade laden verwende verwenden nutze nutzen benutze öffne öffnen prüfe untersuche analysiere",
    "to": "nach als unter",
    "in": "im ins",
    "from": "aus von mit anhand für über",
    "clause": "dass welche welcher welches weil wenn falls",
    "existing": "gegeben befindet liegt enthält steht beschrieben vorhanden ist sind",
    "must": "muss müssen soll sollen sollte sollten darf dürfen unbedingt",
    "permission": "kannst darfst können",
    "negation": "nicht niemals ohne keine kein",
    "negation_behind": "nicht",
    "order_start": "und dann bitte",
    "condition": "wenn falls",
    "file_noun": "datei",
    "filler": "der die das den dem eine ein",
    "or": "oder",
}
FRENCH: Words = {
    "make": """
        écris écrivez écrire crée créez créer génère générez générer produis produisez produire modifie modifiez
        modifier corrige corrigez corriger répare réparez implémente implémentez implémenter ajoute ajoutez
        ajouter exporte exportez mets mettez rédige rédigez construis
    """,
    "put": "enregistre enregistrez enregistrer sauvegarde sauvegardez sauvegarder stocke stockez placez",
    "move": "copie copiez déplace déplacez convertis convertissez traduis renomme renommez",
    "read": "lis lisez lire charge chargez utilise utilisez utiliser ouvre ouvrez analysez vérifie vérifiez",
    "to": "vers sous comme sur",
    "in": "dans",
    "from": "depuis avec pour du des de selon",
    "clause": "que qui dont lorsque quand parce si",
    "existing": "existe contient est sont donné fourni",
    "must": "doit doivent devez faut",
    "permission": "peux pouvez",
    "negation": "ne pas sans jamais",
    "negation_behind": "pas",
    "order_start": "et puis",
    "condition": "si quand",
    "file_noun": "fichier",
    "filler": "le la les un une",
    "or": "ou",
}
SPANISH: Words = {
    "make": """
        escribe escriba escribir crea cree crear genera genere generar produzca modifica modifique modificar
        corrija corregir arregla arregle implementa implemente implementar actualiza actualice actualizar
        exporta añade añada redacta construye modifiques cambies edites toques
    """,
    "put": "guarda guarde guardar almacena almacene coloca coloque pon ponga registra",
    "move": "copia copie convierte convierta mueve mueva traduce renombra renombre",
    "read": "lee lea leer usa utiliza utilice utilizar abre abra carga cargue analiza analice revisa revise",
    "to": "para como hacia en",
    "from": "desde del con según de",
    "clause": "que cuando donde porque si",
    "existing": "existe contiene está están dado dada es",
    "must": "debe deben debes hay",
    "permission": "puedes puede",
    "negation": "nunca sin no",
    "order_start": "y luego",
    "condition": "si cuando",
    "file_noun": "archivo",
    "filler": "el los un una",
    "or": "o",
}
PORTUGUESE: Words = {
    "make": """
        escreva escrever crie criar gere gerar produza modifique corrija corrigir conserte implemente atualize
        atualizar adicione redija construa altere
    """,
    "put": "salve salvar grave gravar armazene",
    "move": "converta mova traduza renomeie",
    "read": "leia ler utilize abra carregue analise verifique",
    "to": "para como",
    "in": "em no na",
    "from": "com de",
    "clause": "que quando onde porque se",
    "existing": "existe contém está são dado dada",
    "must": "deve devem precisa",
    "permission": "pode podes",
    "negation": "nunca não nao sem",
    "order_start": "e depois",
    "condition": "se quando",
    "file_noun": "arquivo ficheiro",
    "filler": "o os um uma",
    "or": "ou",
}
RUSSIAN: Words = {
    "make": """
        напиши напишите создай создайте создать сгенерируй сгенерируйте исправь исправьте исправить измени
        измените обнови обновите реализуй реализуйте реализовать добавь добавьте отредактируй почини написать
        изменяй изменяйте редактируй редактируйте трогай трогайте
    """,
    "put": "запиши запишите записать сохрани сохраните сохранить выведи выведите помести поместите",
    "move": "скопируй скопируйте переименуй переименуйте преобразуй преобразуйте переведи",
    "read": """
        прочитай прочитайте прочти прочтите прочитать используй используйте открой откройте загрузи загрузите
        проанализируй проанализируйте проверь проверьте посмотри
    """,
    "to": "под как",
    "in": "в во",
    "from": "из от с со для по",
    "clause": "который которая которые что если когда чтобы",
    "existing": "находится лежит содержит есть дан",
    "must": "должен должна должно должны необходимо нужно обязательно следует",
    "permission": "можешь можете",
    "negation": "не без нельзя никогда",
    "order_start": "и затем пожалуйста",
    "condition": "если когда",
    "file_noun": "файл файле файла",
    "or": "или",
}
