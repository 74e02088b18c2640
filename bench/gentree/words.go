package main

import "strings"

// domains are the subjects of skills; every fifth word of a sentence is one.
var domains = strings.Fields(`
pdf docx xlsx pptx csv json yaml sql postgres redis kafka docker kubernetes terraform ansible aws gcp azure
s3 lambda react vue svelte angular css tailwind html figma canvas svg git github gitlab jira slack notion
confluence email calendar invoice receipt contract budget tax payroll crm sales marketing seo blog
newsletter podcast video audio image photo ocr translation transcript summary research citation paper latex
markdown wiki docs api graphql grpc rest oauth jwt tls security audit compliance gdpr hipaa soc2 pentest
fuzzing profiling tracing logging metrics grafana prometheus opentelemetry sentry incident oncall runbook
postmortem deploy release changelog semver npm pip cargo go rust python typescript java kotlin swift ios
android flutter unity godot blender cad gis map weather finance trading kalshi markets options crypto
blockchain nlp embedding vector rag agent prompt eval dataset labeling notebook pandas numpy spark airflow
dbt bigquery snowflake tableau chart dashboard report survey form questionnaire interview resume hiring
onboarding training course quiz flashcard lesson music recipe travel hotel flight genome protein chemistry
physics astronomy robotics drone sensor firmware fpga verilog compiler linker parser regex diff merge
refactor lint test mock benchmark
`)

// verbs are the actions of skills.
var verbs = strings.Fields(`
create extract convert analyze validate review summarize generate merge split deploy monitor migrate
transform optimize format translate annotate classify search index schedule automate debug inspect visualize
document test scaffold publish archive compare reconcile audit encrypt compress render parse clean normalize
enrich
`)

// adjectives are the first words of names.
var adjectives = strings.Fields(`
fast quick internal shared legacy modern strict batch bulk remote local team global nightly daily weekly
smart guided advanced basic simple secure verified typed async
`)

// fillers are the other words of a sentence.
var fillers = strings.Fields(`
the a of for with when and or to in on from by using each every all new existing given large small
structured raw final output input user file files data table record field value schema template section page
document step result error warning option default config key token request response service client server
team project repository branch commit environment variable command script tool model context message prompt
example reference guide workflow process pipeline stage task job queue event source target format version
policy rule check report summary detail list item name path folder archive backup restore update remove add
change review approve
`)
