package disclose

import (
	"strings"
	"unicode/utf8"
)

// glossary has the English of common words of requests in Chinese and Japanese: what people work on, and what they do with
// it. Most skills are described in English, so a request in another script would have no word in common with them. Each line
// is one meaning: the words of both languages, "=", and the English words.
const glossary = `
文件 檔案 ファイル=file
文件夹 資料夾 目录 目錄 フォルダ ディレクトリ=folder directory
文档 文檔 文書 ドキュメント=document documentation docs
文章 記事 博客 部落格 ブログ=article blog post
文字 文本 テキスト=text
文案 コピーライティング=copy copywriting
字幕=subtitle caption
图片 圖片 图像 圖像 画像 照片 写真=image picture photo
图标 圖標 アイコン=icon
图表 圖表 グラフ チャート=chart graph
流程图 流程圖 フローチャート=flowchart diagram
架构图 架構圖 構成図 示意图 図解 ダイアグラム=diagram
信息图 インフォグラフィック=infographic
插图 插圖 配图 イラスト=illustration illustrate
封面 表紙=cover
海报 海報 ポスター=poster
视频 視頻 影片 动画 動画 ビデオ アニメーション=video animation
音频 音頻 音声 オーディオ=audio
音乐 音樂 音楽=music
语音 語音 ボイス=voice speech audio
漫画 漫畫 マンガ=comic
表格 电子表格 試算表 スプレッドシート エクセル=spreadsheet excel table
幻灯片 幻燈片 演示文稿 簡報 スライド プレゼン プレゼンテーション パワーポイント=slide presentation powerpoint deck
报告 報告 レポート=report
简历 簡歷 履歴書 職務経歴書=resume cv
邮件 郵件 电子邮件 メール=email mail
消息 訊息 メッセージ 通知=message notification
聊天 チャット 对话 對話 会话 会話=chat conversation
会议 會議 ミーティング=meeting
议事录 会议纪要 議事録 纪要=minutes meeting notes
笔记 筆記 ノート メモ=note
日历 日程 カレンダー 予定=calendar schedule
任务 任務 待办 タスク=task todo
项目 項目 专案 專案 プロジェクト=project
计划 計劃 規劃 规划 計画 プラン=plan planning
需求 要件=requirement
合同 契約 契約書 合约=contract legal
发票 發票 請求書 收据 領収書=invoice receipt
财务 財務 会計 会计=finance financial accounting
市场 營銷 营销 市場 マーケティング 推广=marketing market
销售 銷售 営業 セールス=sales
客户 客戶 顧客 カスタマー=customer client
产品 產品 製品 プロダクト=product
竞争对手 竞品 競合 竞争=competitor competitive
社交媒体 社群 ソーシャルメディア=social media
广告 廣告 広告=ads advertising
论文 論文 学术 學術 文献 文獻=paper research academic literature
研究 调研 調研 リサーチ=research
引用 参考文献=citation reference
新闻 新聞 ニュース=news
书籍 書籍 图书 電子書 电子书=book ebook
翻译 翻譯 翻訳=translate translation
总结 總結 摘要 概括 要約 まとめ=summarize summary
写作 寫作 撰写 執筆 ライティング=write writing
编辑 編輯 編集=edit editing
校对 校對 校正 润色 推敲=proofread correct edit
改写 重写 書き直し=rewrite
创建 創建 新建 制作 製作 作成 作る 创作=create make
生成 产生 產生=generate
转换 轉換 转为 转成 変換=convert conversion
提取 擷取 抽取 抽出=extract
下载 下載 ダウンロード=download
上传 上傳 アップロード=upload
导出 導出 匯出 エクスポート=export
导入 導入 匯入 インポート=import
合并 合併 结合 結合=merge combine
拆分 分割=split
压缩 壓縮 圧縮=compress
整理 组织 整頓=organize
清理 清洁 クリーンアップ 删除 刪除 削除=clean cleanup delete
查找 寻找 搜索 搜尋 查询 查詢 検索 探す=search find lookup
筛选 篩選 过滤 過濾 フィルタ=filter
比较 比較 对比 對比=compare comparison
分析 解析=analyze analysis
统计 統計=statistics statistical
评估 評估 评价 評価 评测=evaluate evaluation
审查 審查 审核 审阅 评审 レビュー=review
审计 審計 監査=audit
检查 檢查 确认 チェック=check
诊断 診斷 診断 排查 故障=diagnose troubleshoot
优化 優化 最適化=optimize optimization
改进 改善=improve
监控 監控 監視=monitor monitoring
自动化 自動化=automate automation
管理=manage management
发布 發布 發佈 公開 リリース=publish release
部署 デプロイ=deploy deployment
安装 安裝 インストール=install setup
配置 设置 設置 設定=configure setup settings
更新 升级 升級 アップデート=update upgrade
迁移 遷移 移行=migrate migration
备份 備份 バックアップ=backup
同步 同期=sync
分享 共享 共有=share
发送 發送 送信=send
录制 錄製 録画=record recording
截图 截圖 截屏 スクリーンショット=screenshot
播客 ポッドキャスト=podcast
转录 轉錄 文字起こし 转写=transcribe transcript
网站 網站 网页 網頁 站点 ウェブサイト サイト ウェブ=website web page
网址 链接 連結 リンク=url link
浏览器 瀏覽器 ブラウザ=browser
爬虫 爬取 抓取 スクレイピング クローラー=scrape crawl fetch
前端 フロントエンド=frontend
后端 後端 バックエンド=backend
界面 介面 インターフェース=interface ui
设计 設計 デザイン=design
组件 元件 コンポーネント=component
样式 スタイル=style
布局 版面 レイアウト=layout
颜色 配色 色彩=color
主题 主題 テーマ=theme
响应式 レスポンシブ=responsive
应用 應用 アプリ アプリケーション=app application
手机 移动 行動 モバイル スマホ=mobile
软件 軟體 ソフトウェア=software
代码 代碼 程式碼 源码 コード=code
编程 程序 程式 プログラミング プログラム=programming program
开发 開發 開発=develop development
函数 関数=function
接口=api interface
数据库 資料庫 データベース=database sql
数据 數據 資料 データ=data
服务器 伺服器 サーバー サーバ=server
网络 網路 ネットワーク=network
云 雲 クラウド=cloud
容器 コンテナ=container docker
仓库 存储库 リポジトリ=repository repo
提交 コミット=commit
分支 ブランチ=branch
拉取请求 プルリクエスト=pull request
版本 バージョン=version
依赖 依賴 依存関係=dependency
测试 測試 テスト=test testing
单元测试 ユニットテスト=unit test
调试 調試 除錯 デバッグ=debug
错误 錯誤 报错 バグ エラー=error bug
修复 修復 修正 修理=fix repair
重构 重構 リファクタリング=refactor
性能 效能 パフォーマンス=performance
安全 セキュリティ=security
漏洞 脆弱性=vulnerability
加密 暗号化 暗号=encrypt encryption
密码 密碼 パスワード=password
权限 權限 権限=permission
日志 日誌 ログ=log
架构 架構 アーキテクチャ=architecture
模型 モデル=model
机器学习 機器學習 機械学習=machine learning
训练 訓練 学習=train training
提示词 提示詞 プロンプト=prompt
智能体 代理 エージェント=agent
技能 スキル=skill
插件 外掛 プラグイン=plugin
模板 範本 テンプレート=template
脚本 腳本 スクリプト=script
命令行 命令 コマンド ターミナル 终端 終端=command terminal cli
快捷键=shortcut
工作流 流程 ワークフロー=workflow
教程 教學 チュートリアル=tutorial
课程 課程 コース=course
面试 面試 面接=interview
招聘 徵才 採用=recruiting hiring
旅行 旅游 旅遊=travel
天气 天氣 天気=weather
地图 地圖 地図=map
股票 株式 投资 投資=stock investment
健康 医疗 醫療 医療=health medical
游戏 遊戲 ゲーム=game
头脑风暴 腦力激盪 ブレインストーミング 点子 创意 アイデア=brainstorm idea
可视化 視覺化 可視化=visualize visualization
格式 格式化 フォーマット=format
标题 標題 タイトル 見出し=title headline
关键词 關鍵字 キーワード=keyword
水印 浮水印 透かし=watermark
签名 簽名 署名=signature sign
表单 表單 フォーム=form
填写 填寫 記入=fill form
价格 價格 定价 定價 価格 料金 値段=price pricing
订阅 訂閱 サブスクリプション サブスク 定期購読=subscription
流失 解約 退会 離脱=churn cancel
访谈 訪談 インタビュー=interview
问卷 問卷 アンケート=survey
发帖 貼文 投稿=post
インスタ インスタグラム ソーシャル=social instagram
上线 推出 発表 発売 ローンチ=launch announcement
商品=product
潜在客户 見込み客 見込客 リード=prospect lead
活动 活動 キャンペーン=campaign
排名 検索順位 順位=ranking seo
搜索引擎 搜尋引擎 検索エンジン=search engine seo
品牌 ブランド=brand
字体 字型 フォント=font
主页 主頁 ホームページ=homepage website page
落地页 ランディングページ=landing page
页面 頁面 ページ=page
屏幕 螢幕 画面 スクリーン=screen ui
实验 實驗 実験=experiment test
显著 有意=significant statistical
根因 原因 根本原因=root cause
不具合 障害=bug issue
失败 失敗=fail failing failure
实现 實作 実装=implement implementation
驱动 駆動=driven
构思 構想=idea concept
步骤 步驟 手順 段取り=step plan
变更 變更 変更=change
修订 修訂 変更履歴=tracked changes revision
历史 歷史 履歴 歴史=history
ワークツリー=worktree
マージ=merge
片付け=cleanup clean
消して 消す=delete remove
议题 課題=issue
连接 連線 接続=connection network
ネット 回線=network internet
缓慢 遅い=slow
紙=paper
扫描 掃描 スキャン=scan
录音 錄音 録音=recording audio
打ち合わせ 打合せ=meeting
保存=save
绘画 画画 描く 描いて=draw art
艺术 藝術 アート=art
ジェネラティブ=generative
表情 絵文字=emoji
公告 お知らせ=announcement communication
内部 社内=internal
公司 企业 企業 会社=company business
进度 進度 進捗=progress status
提案 方案 提案書=proposal
ワード=word document
パワポ=powerpoint presentation slide
公式 数式=formula
申请表 申請書=form application
材料=document material
质量 質量 品質=quality
规格 規格 仕様 仕様書=specification spec
报价 報價 見積もり 見積=estimate quote
预算 預算 予算=budget
费用 費用 成本 経費=cost expense
人事=hr human resources
数学 數學=math
科学 科學=science scientific
化学 化學=chemistry chemical
生物=biology
基因 遺伝子=gene genome
蛋白质 蛋白質 タンパク質=protein
药物 藥物 医薬品=drug
临床 臨床=clinical
回归 迴歸 回帰=regression
时间序列 時系列=time series
威胁 威脅 脅威=threat
渗透 滲透 侵入=penetration
许可证 ライセンス=license
合规 合規 コンプライアンス=compliance
隐私 隱私 個人情報 プライバシー=privacy
认证 認證 認証=authentication auth
登录 登入 ログイン=login
支付 付款 決済=payment
订单 訂單 注文=order
库存 庫存 在庫=inventory
物流 配送=shipping logistics
商店 店舗 ショップ=shop store
电商 電商 通販=ecommerce
无障碍 アクセシビリティ=accessibility
本地化 国際化 ローカライズ=localization internationalization
微调 ファインチューニング=fine-tuning
验证 驗證 検証=verify validation
假设 仮説=hypothesis
指标 指標=metric
仪表板 儀表板 ダッシュボード=dashboard
目标 目標=goal
策略 战略 戦略=strategy
法律 法务 法務=legal law
专利 專利 特許=patent
ニュースレター=newsletter
キャッチコピー=copy headline copywriting
文面=text copy
回复 回覆 返信=reply follow-up
折扣 割引=discount
推荐 推薦 紹介=referral recommend
社区 コミュニティ=community
インフルエンサー=influencer
弹窗 ポップアップ=popup
注册 註冊 登録=signup register
オンボーディング=onboarding
反馈 回饋 フィードバック=feedback
评论 評論 コメント=comment
スケジュール=schedule
演示 デモ=demo
示例 サンプル=example sample
手册 手冊 マニュアル=manual guide
指南 ガイド=guide
说明 說明 説明 解説=explain explanation
库 ライブラリ=library
框架 フレームワーク=framework
パッケージ=package
并行 並列=parallel
异步 非同期=async
缓存 快取 キャッシュ=cache
内存 記憶體 メモリ=memory
基准 ベンチマーク=benchmark
源代码 原始碼 ソースコード=source code
静的解析 静态分析=static analysis
模糊测试 ファジング=fuzzing fuzz
属性 プロパティ=property
智能合约 スマートコントラクト=smart contract
区块链 ブロックチェーン=blockchain
趋势 趨勢 動向 トレンド=trend
出典=citation source
深入 详细 詳細 詳しく=deep detailed
调查 調查 調査 調べて 調べる=research investigate
大小 サイズ=size
小さく=compress
探して=find search
直して 直す=fix
收集 集めて 収集=collect
確認=check verify
检验 検査 点検=inspect check scan
試験=test
宣传 宣伝=promotion
准备 準備 用意=prepare preparation
マークダウン=markdown
スプリント=sprint
量子=quantum
天文=astronomy
地理=geographic geospatial
`

// glosses are the words of the glossary with the English words of each, separated by spaces.
type glosses struct {
	english map[string]string
	longest int // characters of a word
}

func newGlosses() *glosses {
	g := &glosses{english: map[string]string{}}
	for line := range strings.Lines(glossary) {
		foreign, english, _ := strings.Cut(strings.TrimSpace(line), "=")
		for word := range strings.FieldsSeq(foreign) {
			g.english[word] = strings.TrimSpace(g.english[word] + " " + english)
			g.longest = max(g.longest, utf8.RuneCountInString(word))
		}
	}
	return g
}

// in returns the English of the words in a text, the longest word at each place.
func (g *glosses) in(text string) []string {
	var out []string
	for text != "" {
		n, english := g.first(text)
		if english != "" {
			out = append(out, english)
		}
		text = text[n:]
	}
	return out
}

// first returns the length of the longest word at the beginning of a text and its English, or that of a character.
func (g *glosses) first(text string) (n int, english string) {
	_, n = utf8.DecodeRuneInString(text)
	for end, count := 0, 0; end < len(text) && count < g.longest; count++ {
		_, size := utf8.DecodeRuneInString(text[end:])
		end += size
		if e := g.english[text[:end]]; e != "" {
			n, english = end, e
		}
	}
	return n, english
}
