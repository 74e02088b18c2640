package disclose

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// wordGlossary has the English of common words of requests in Spanish, French, German and Portuguese, as glossary has that of
// Chinese, Japanese and Korean. The words have no accents. A star stands for any ending, because these languages inflect.
const wordGlossary = `
archivo* fichero* fichier* datei* arquivo* ficheiro*=file
carpeta* dossier* ordner* pasta*=folder directory
documento* dokument*=document
texto* texte*=text
articulo* artikel* beitrag* artigo*=article blog post
imagen* imagem imagens bild bilder* foto* fotografia*=image picture photo
diagrama* diagramm* schaubild*=diagram
grafic* graphique* grafik*=chart graph plot
cartel* afiche* affiche* plakat* cartaz*=poster
portada* couverture* titelbild*=cover
musica musique* musik*=music
voz voix stimme*=voice speech
subtitul* untertitel* legendas=subtitle caption
hoja* tableur* tabellenkalkulation* planilha*=spreadsheet excel sheet
tabla* tableau* tabelle* tabela*=table spreadsheet
columna* colonne* spalte* coluna*=column
fila filas ligne* zeile* linha*=row
presentacion* diapositiv* prasentation* folie folien apresentac*=presentation slide powerpoint deck
informe* rapport* bericht* relatorio*=report
lebenslauf* curriculo*=resume cv
correo* courriel*=email mail
mensaje* nachricht* mensagem mensagens=message
reunion* besprechung* reuniao reunioes sitzung*=meeting
acta actas protokoll*=minutes meeting notes
notiz*=note
calendario* calendrier* kalender* agenda*=calendar schedule
tarea* tache* aufgabe* tarefa*=task todo
proyecto* projet* projekt* projeto*=project
planific* planung* planejament*=plan planning
contrato* contrat* vertrag*=contract legal
factura* facture* rechnung* fatura*=invoice
finanz* financeir* finanzas=finance financial
venta ventas vente ventes verkauf* venda* vertrieb*=sales
cliente* kunde* kunden*=customer client
producto* produit* produkt* produto*=product
competidor* concurren* wettbewerb* concorren*=competitor competitive
anuncio* publicit* publicid* werbung* werbe*=ads advertising
redes reseaux sozial*=social network
investigac* forschung* pesquisa*=research
publicac* veroffentlich*=publication paper research
literatur* litterature*=literature
revision* revisao revue* relis relire relecture* uberpruf* begutacht* gutachten rezension*=review
evaluador* evaluateur* gutachter* avaliador*=reviewer review
manuscrito* manuscrit* manuskript*=manuscript paper
zitat* citac*=citation
subvenc* subvention* forderantrag* fordermittel*=grant funding
datos donnee* daten dados=data
datenbank*=database
estadistic* statisti* estatistic*=statistics statistical
analiz* analis* analys* auswert*=analysis analyze
ensayo* essai* studie studien* estudio* estudo*=study trial
clinic* klinisch*=clinical
medicament* medikament* farmaco* arzneimittel*=drug medicine
pronostic* previsi* prevoi* vorhersag* prognose*=forecast prediction
zeitreihe* temporales temporais temporelle*=time series
modelo* modele* modell*=model
codigo*=code
fallo* erreur* fehler* erro erros=error bug
corrig* arregl* repar* beheb* korrigier* consert*=fix
prueba* probar tester teste* testen*=test
constru* baue bauen*=build
despleg* despliegue* deploi* bereitstell* implant*=deploy
servidor* serveur*=server
seguridad* securite* sicherheit* seguranca*=security
vulnerabil* schwachstelle*=vulnerability
rendimiento* leistung* desempenho*=performance
lento lenta lente* langsam*=slow performance
pagina* sitio* webseite* internetseite*=page website web
navegador* navigateur*=browser
aplicac* aplicativ* anwendung* webanwendung*=application app
interfaz* oberflache* benutzeroberflache*=interface ui frontend
disen* desenh* entwirf* entwerf* entwurf* gestalt* concevoir concois=design
dibuj* dessin* zeichn*=draw drawing
escrib* escrev* redact* redig* redaccion* ecris ecrire* schreib* verfass*=write writing
crea crear cree creer erstell* crie criar=create
anad* agreg* ajout* hinzufug* erganz* adicion* acrescent*=add
fusion* combin* zusammenfug* junte juntar junta unir=merge combine
divid* divis* aufteil* trenn*=split
convert* konvertier* umwandel* umwandl*=convert
traduc* tradui* traduz* ubersetz*=translate translation
resum* zusammenfass*=summarize summary
busca buscar busque cherche* recherch* suche suchen such procur* encontr* trouv* finde*=search find
extra* extrai* extrah*=extract
comprim* compress* komprimier*=compress
compar* vergleich*=compare
explic* expliqu* erklar*=explain
aprend* apprend* lern*=learn
habilidad* competence* fahigkeit*=skill
herramienta* outil outils werkzeug* ferramenta*=tool
marca marcas marque marques marke*=brand
colores couleur* farbe* cores=color
schrift* tipografi* typographi*=font typography
comunicado* communique* mitteilung* comunicac*=communication announcement
emplead* employe* mitarbeiter* funcionari*=employee internal
precio* prix preis preise* preco*=price pricing
clima meteo wetter* tempo=weather
viaje* voyage* reise* viagem viagens=travel
receta* recette* rezept* receita*=recipe
juego* jeux spiel* jogo*=game
libro* livre livres buch bucher* livro*=book
ensen* enseign* unterricht* ensino=teaching education
salud* sante gesundheit* saude=health
juridi* rechtlich*=legal
impuest* impot* steuer* imposto*=tax
mapa* karte karten* carte cartes=map
molecul* molekul*=molecule molecular
proteina* proteine*=protein
celula* cellule* zelle zellen*=cell
krebs* cancer*=cancer
paciente* patienten*=patient
imprim* drucke*=print
notific* benachrichtig*=notification
automatiz* automatis*=automation automate
flujo* workflow* ablauf* fluxo*=workflow
requisit* anforderung*=requirement
historia histoire* geschichte*=story history
entrevist* entretien* vorstellungsgesprach*=interview
oferta* angebot* offre*=offer proposal
propuesta* proposition* vorschlag* proposta*=proposal
`

// smallWords are words of these languages that say nothing about a task. Some are words of English, or names, too: they count unless
// the request is in another language.
const smallWords = `
a al als am an ao aos as auf aus avec bei com como con da das dans de del dem den der des die dies diese diesem diesen dieser dieses
do dos du e ein eine einem einen einer eines el elle em en entre es est esta estas este esto estos et eu fur haz hacer faire fais
fazer faca il im in ist la las le les leur lo los ma mach mache machen mas me mein meine meinem meinen meiner mes meu mi minha mis
mit mon na nas ne no nos nossa nosso notre nuestra nuestro o os ou par para pela pelo por pour que quiero sa sein ser ses sind sobre
son su sur te teu tu um uma un una une uns unser unsere und unter veux vom von vous vos wie wir y zu zum zur
`

// foreign are the words of wordGlossary: whole ones, and beginnings of words, with the English of each.
type foreign struct {
	whole, begin map[string]string
	small        map[string]bool // smallWords
}

func newForeign() *foreign {
	w := &foreign{map[string]string{}, map[string]string{}, map[string]bool{}}
	for word := range strings.FieldsSeq(smallWords) {
		w.small[word] = true
	}
	for line := range strings.Lines(wordGlossary) {
		theirs, english, _ := strings.Cut(strings.TrimSpace(line), "=")
		for word := range strings.FieldsSeq(theirs) {
			to := w.whole
			if beginning, is := strings.CutSuffix(word, "*"); is {
				to, word = w.begin, beginning
			}
			to[word] = strings.TrimSpace(to[word] + " " + english)
		}
	}
	return w
}

// longestWord is the length in bytes of the longest word that is looked up.
const longestWord = 40

// in returns the English of a word of the scanner, or "". The longest beginning decides.
func (w *foreign) in(word []byte) string {
	if len(word) > longestWord {
		return ""
	}
	plain := unaccented(word)
	if english := w.whole[plain]; english != "" {
		return english
	}
	for n := len(plain); n > 0; n-- {
		if english := w.begin[plain[:n]]; english != "" {
			return english
		}
	}
	return ""
}

// unaccented returns a word without accents: "präsentación" is "prasentacion".
func unaccented(word []byte) string {
	plain := true
	for _, c := range word {
		plain = plain && c < utf8.RuneSelf
	}
	if plain {
		return string(word)
	}
	var b strings.Builder
	for _, r := range norm.NFD.String(strings.ToLower(string(word))) {
		switch {
		case r == 'ß':
			b.WriteString("ss")
		case !unicode.Is(unicode.Mn, r):
			b.WriteRune(r)
		}
	}
	return b.String()
}
