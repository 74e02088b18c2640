package survey

import (
	"slices"
	"strings"
)

func listed(words, word string) bool {
	return slices.Contains(strings.Fields(words), word)
}

// pypi has the packages of modules that have another name.
var pypi = map[string]string{
	"Bio": "biopython", "Crypto": "pycryptodome", "Cryptodome": "pycryptodomex", "Levenshtein": "python-Levenshtein",
	"MySQLdb": "mysqlclient", "OpenSSL": "pyOpenSSL", "PIL": "Pillow", "Xlib": "python-xlib", "attr": "attrs",
	"barcode": "python-barcode", "bs4": "beautifulsoup4", "camelot": "camelot-py", "community": "python-louvain",
	"cv2": "opencv-python-headless", "dateutil": "python-dateutil", "discord": "discord.py", "dns": "dnspython",
	"docx": "python-docx", "dotenv": "python-dotenv", "faiss": "faiss-cpu", "ffmpeg": "ffmpeg-python",
	"firecrawl": "firecrawl-py", "fitz": "PyMuPDF", "frontmatter": "python-frontmatter", "gi": "PyGObject", "git": "GitPython",
	"github": "PyGithub", "gitlab": "python-gitlab", "google.oauth2": "google-auth", "google.protobuf": "protobuf",
	"googleapiclient": "google-api-python-client", "hydra": "hydra-core", "jenkins": "python-jenkins", "jose": "python-jose",
	"jwt": "PyJWT", "ldap": "python-ldap", "magic": "python-magic", "markdown_it": "markdown-it-py",
	"mpl_toolkits": "matplotlib", "nacl": "PyNaCl", "nemo": "nemo-toolkit", "newspaper": "newspaper3k", "nmap": "python-nmap",
	"odf": "odfpy", "osgeo": "GDAL", "paho": "paho-mqtt", "pdfminer": "pdfminer.six", "pkg_resources": "setuptools",
	"pptx": "python-pptx", "psycopg2": "psycopg2-binary", "pyannote": "pyannote.audio", "pythoncom": "pywin32",
	"readability": "readability-lxml", "rest_framework": "djangorestframework", "ruamel": "ruamel.yaml", "serial": "pyserial",
	"skbio": "scikit-bio", "skimage": "scikit-image", "sklearn": "scikit-learn", "sksurv": "scikit-survival",
	"slugify": "python-slugify", "socks": "PySocks", "speech_recognition": "SpeechRecognition", "tabula": "tabula-py",
	"talib": "TA-Lib", "tavily": "tavily-python", "tdc": "PyTDC", "telegram": "python-telegram-bot", "umap": "umap-learn",
	"usb": "pyusb", "vertexai": "google-cloud-aiplatform", "websocket": "websocket-client", "whisper": "openai-whisper",
	"win32api": "pywin32", "win32com": "pywin32", "win32gui": "pywin32", "wx": "wxPython", "yaml": "PyYAML", "zmq": "pyzmq",
}

// sameNames are modules that are known to be in the package of their name. Of another module nobody knows its package: anyone can
// publish one of that name.
const sameNames = ` accelerate aiohttp aiosqlite akshare albumentations alembic altair anndata anthropic anyio appdirs apscheduler arboreto arrow
arviz arxiv asana ase assemblyai astropy astroquery asyncpg attrs azure babel backoff bcrypt bibtexparser bioservices black
blessed bokeh boto3 botocore bottle cachetools cairosvg cartopy catboost cattrs ccxt celery cerberus certifi chardet
charset_normalizer chromadb claude_agent_sdk click cloudpickle cohere colorama colorthief coverage crewai cryptography dagster
dask datamol datasets deap deep_translator deepchem deepdiff defusedxml diffusers dill diskcache distro django docker docx2pdf
docxtpl dspy duckdb easyocr ebooklib edge_tts elevenlabs emoji esm ete3 fabric faker fal_client fastapi fastmcp fastparquet
feedparser filelock fiona firebase_admin flake8 flask flax folium fontTools freezegun funasr fuzzywuzzy gensim geopandas gget
glom google_auth_oauthlib googletrans gradio groq gtts gunicorn gymnasium h11 h5py html5lib httpcore httpx huggingface_hub
humanize hypercorn hypothesis idna imagehash imageio img2pdf inflect instructor ipykernel IPython isort itsdangerous jax jieba
jinja2 jira jmespath joblib jsonschema jupyter keras keyring kombu kubernetes langchain langchain_anthropic
langchain_community langchain_core langchain_openai langdetect langgraph librosa lifelines lightgbm lightkurve lightning lime
litellm llama_index loguru lxml markdown markdownify markitdown markupsafe marshmallow matplotlib mcp medchem mimesis
mistralai mistune mlflow mlx_audio mlx_vlm mlx_whisper more_itertools moviepy mp_api msal msgpack mutagen mypy nbconvert
nbformat netCDF4 networkx nibabel nltk notebook notion_client nox num2words numba numpy O365 obspy ocrmypdf ollama onnx
onnxruntime openai openpyxl opentrons optax optuna orjson packaging pandas pandoc paramiko passlib patchright pdf2image pdfkit
pdfplumber peft pendulum pennylane pexpect pika pikepdf pinecone pip platformdirs playwright plotly plumbum polars polib
portalocker praw prefect prettytable probeinterface prompt_toolkit psutil psycopg pufferlib pvlib pyarrow pyautogui pydantic
pydantic_ai pydantic_settings pydeseq2 pydicom pydub pyfiglet pygments pymatgen pymc pymongo pymoo pymupdf4llm pynput pyotp
pypandoc pypdf PyPDF2 pyperclip pyproj pysam pytesseract pytest pyttsx3 pytube pytz pyzotero qdrant_client qiskit qrcode quart
rapidfuzz rasterio ray rdkit redis referencing regex replicate reportlab requests responses rich ruff safetensors sanic scanpy
schedule scholarly scipy scrapling scvelo seaborn selenium semanticscholar sendgrid sentence_transformers setuptools sh shap
shapely simplejson simpy six slack_bolt slack_sdk sounddevice soundfile spacy spikeinterface spotipy sqlalchemy sqlglot
sse_starlette stable_baselines3 starlette statsmodels streamlit stripe structlog sunpy supabase svgwrite sympy tabulate
tenacity tensorflow termcolor textual thefuzz tiktoken timesfm tokenizers toml tomli tomli_w tomlkit toolz torch torchaudio
torchvision tornado tox tqdm trafilatura transformers tree_sitter trimesh tweepy twilio typer typing_extensions tzdata ujson
unidecode urllib3 uvicorn voluptuous vosk wandb watchdog wcwidth weasyprint websockets werkzeug wheel wikipedia xarray xgboost
xlrd xlsxwriter xmltodict yara_x yfinance youtube_transcript_api yt_dlp zarr `

// Guess reports whether the package that Package returns is a guess by the name of the module.
func Guess(module string) bool {
	first, _, _ := strings.Cut(module, ".")
	return !KnownPackage(module) && !listed(sameNames, first)
}

// KnownPackage reports whether a Python module is known to be in a package that has another name, as pptx in python-pptx.
func KnownPackage(module string) bool {
	first, _, _ := strings.Cut(module, ".")
	return pypi[first] != "" || pypi[module] != ""
}

// sharedNames are names that the modules of several packages begin with.
var sharedNames = []string{"azure", "google", "google.cloud"}

// SharedName reports whether the modules of several packages begin with a name, as those of google-auth and google-genai do with
// google.
func SharedName(name string) bool { return shared(name) }

func shared(name string) bool { return slices.Contains(sharedNames, name) }

// Package returns the package of the Python Package Index that a module is in. For a module that is not known it is the
// module's own name, as is usual.
func Package(module string) string {
	for name := module; name != ""; {
		if p := pypi[name]; p != "" {
			return p
		}
		i := strings.LastIndexByte(name, '.')
		name = name[:max(i, 0)]
	}
	parts := strings.Split(module, ".")
	keep := 1
	for keep < len(parts) && shared(strings.Join(parts[:keep], ".")) {
		keep++
	}
	return strings.ReplaceAll(strings.Join(parts[:keep], "-"), "_", "-")
}
