package definition

// The rules of github.com/gobuffalo/flect v1.0.3, the library of controller-tools,
// without those that change no result. Its mistakes stay, because a new name
// would be a new CustomResourceDefinition. TestPluralIsThatOfControllerTools compares
// them. The library sorts its rules at every start of a program.
//
// Copyright (c) 2019 Mark Bates, MIT License.

// wholeWords are words and their plurals. They do not apply to the end of longer words.
const wholeWords = `
adieus/adieus aes/aeses alias/aliases axis/axes cmos/cmoses des/deses dice/dice die/dice dns/dnses eia/eias fcs/fcses formulae/formulae
https/httpses ids/idses ips/ipses lice/lice louse/lice mpls/mplses octopi/octopi ox/oxen oxen/oxen pots/potses ssh/sshs tia/tias
`

// wordEnds are ends of words and their plurals, in order of priority.
const wordEnds = `
graffiti/graffiti formula/formulas agenda/agendas pretorium/pretoriums thief/thieves dwarf/dwarfs rice/rice money/money
information/information equipment/equipment tomato/tomatoes potato/potatoes buffalo/buffaloes topaz/topazes vedalia/vedalias basis/bases
testis/testes thesis/theses oasis/oases genesis/geneses ellipsis/ellipses crisis/crises helix/helices radix/radices appendix/appendices
vortex/vortices vertex/vertices latex/latices index/indices codex/codices apex/apices uva/uvae praecava/praecavae postcava/postcavae
larva/larvae vita/vitae minutia/minutiae differentia/differentiae vertebra/vertebrae alumna/alumnae genus/genera corpus/corpora
syllabus/syllabi radius/radii octopus/octupuses nucleus/nuclei locus/loci focus/foci coccus/cocci cactus/cacti bacillus/bacilli
alumnus/alumni quota/quotas curriculum/curriculums stadium/stadiums taxon/taxa phenomenon/phenomena noumenon/noumena
mitochondrion/mitochondria lexicon/lexica ganglion/ganglia criterion/criteria bureau/bureaus fabliau/fabliaux adieu/adieux person/people
tooth/teeth mouse/mice human/humans man/men goose/geese foot/feet child/children you/you tuna/tuna trout/trout swine/swine shrimp/shrimp
sheep/sheep salmon/salmon police/police moose/moose fish/fish deer/deer bison/bison beef/beef aircraft/aircraft

eaf/eaves oaf/oaves rf/rves lf/lves fe/ves ay/ays ey/eys oy/oys quy/quies uy/uys y/ies eau/eaux bula/bulae dula/bulae lula/bulae nula/bulae
vula/bulae hedron/hedra ium/ia seum/seums eum/ea oum/oa stracum/straca dum/da elum/ela ilum/ila olum/ola ulum/ula llum/lla ylum/yla imum/ima
ernum/erna gnum/gna brum/bra crum/cra terum/tera serum/sera trum/tra antum/anta atum/ata entum/enta etum/eta itum/ita otum/ota utum/uta
ctum/cta ovum/ova trix/trices iasis/iases mesis/meses kinesis/kineses resis/reses gnosis/gnoses opsis/opses ysis/yses us/uses ch/ches io/ios
sh/shes ss/sses ez/ezzes iz/izzes tz/tzes zz/zzes ano/anos lo/los to/tos oo/oos o/oes x/xes
`
