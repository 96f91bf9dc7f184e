// The site of the documentation. `make docs` builds it, `make docs-serve` shows it while you write.
//
// The rule of these files: they name no page but docs/README.md, which says what pages there are.
import { defineConfig } from 'vitepress'
import { markdown, repository } from './markdown.mts'
import { sidebar } from './sidebar.mts'

export default defineConfig({
  title: 'argoperator',
  description: 'Kubernetes operators from one file, run by Argo Events and Argo Workflows',
  lang: 'en',
  head: [['link', { rel: 'icon', href: 'data:,' }]], // else browsers ask for /favicon.ico
  rewrites: { 'README.md': 'index.md' },
  markdown,
  themeConfig: {
    sidebar: sidebar(),
    outline: [2, 3],
    search: { provider: 'local' },
    nav: [{ text: 'GitHub', link: repository }],
    editLink: { pattern: `${repository}/edit/main/docs/:path`, text: 'Edit this page on GitHub' },
    notFound: {
      title: 'Page not found',
      quote: 'The page has moved, or the address is wrong.',
      linkText: 'All pages',
      linkLabel: 'Go to the list of all pages',
    },
  },
})
