import { slug } from 'github-slugger'
import { statSync } from 'node:fs'
import { dirname, join } from 'node:path/posix'
import { fileURLToPath } from 'node:url'
import type { MarkdownOptions } from 'vitepress'

export const repository = 'https://github.com/argoperator/argoperator'

const root = fileURLToPath(new URL('../..', import.meta.url))

type Markdown = Parameters<NonNullable<MarkdownOptions['config']>>[0]

// markdown reads pages as GitHub does, where people read them, too: with the same anchors, and without the additions of
// VitePress. In text, <NAME> and {{ }} stay as they are.
export const markdown: MarkdownOptions = {
  html: false,
  anchor: { slugify: slug },
  attrs: { disable: true },
  config(md) {
    md.disable(['emoji', 'snippet'])
    hideComments(md)
    linkToRepository(md)
    markShortCode(md)
    const render = md.render.bind(md)
    md.render = (source, env) => `<div v-pre>${render(source, env)}</div>` // keeps Vue from evaluating {{ }}
  },
}

// hideComments removes comments, which would be text because html is off.
function hideComments(md: Markdown) {
  md.block.ruler.before('paragraph', 'comment', (state, start, end, silent) => {
    const lines = state.src.split('\n')
    const close = lines.findIndex((line, i) => i >= start && line.includes('-->'))
    if (!lines[start].startsWith('<!--') || close < 0 || close >= end) {
      return false
    }
    state.line = silent ? state.line : close + 1
    return true
  })
}

// linkToRepository turns links to files that are not pages into links to GitHub. It fails if there is no such file.
function linkToRepository(md: Markdown) {
  md.core.ruler.push('repository', ({ tokens, env }) => {
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      const href = token.type === 'link_open' ? (token.attrGet('href') ?? '') : ''
      const [path, anchor] = href.split('#')
      if (path === '' || /^[a-z]+:/.test(path)) {
        continue
      }
      const target = join('docs', dirname(env.relativePath), decodeURI(path))
      if (target === 'docs/README.md') {
        token.attrSet('href', '/' + (anchor ? '#' + anchor : ''))
      } else if (!target.startsWith('docs/') || !target.endsWith('.md')) {
        const file = statSync(join(root, target), { throwIfNoEntry: false })
        if (!file) {
          throw new Error(`${env.relativePath} links to ${path}, which does not exist`)
        }
        const kind = file.isDirectory() ? 'tree' : 'blob'
        token.attrSet('href', `${repository}/${kind}/main/${target}${anchor ? '#' + anchor : ''}`)
      }
    }
  })
}

// markShortCode lets the theme keep code such as --server in one line, which a browser breaks at its hyphens.
function markShortCode(md: Markdown) {
  md.core.ruler.push('short', ({ tokens }) => {
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      if (token.type === 'code_inline' && token.content.length <= 30) {
        token.attrSet('class', 'short')
      }
    }
  })
}
