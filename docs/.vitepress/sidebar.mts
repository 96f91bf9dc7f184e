import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const docs = fileURLToPath(new URL('..', import.meta.url))

// sidebar groups the pages by folder, in the order in which docs/README.md links to them. It fails if a page is not
// linked there.
export function sidebar() {
  const linked = new Set([...read('README.md').matchAll(/\]\(([^)#:]+\.md)/g)].map((match) => match[1]))
  const pages = files()
  const missing = pages.filter((page) => !linked.has(page))
  if (missing.length > 0) {
    throw new Error(`docs/README.md must link to every page: add ${missing.join(', ')}`)
  }
  const groups = new Map<string, { text: string; link: string }[]>()
  for (const page of [...linked].filter((page) => pages.includes(page))) {
    const folder = page.split('/')[0]
    groups.set(folder, [...(groups.get(folder) ?? []), { text: title(page), link: '/' + page }])
  }
  return [
    { text: title('README.md'), link: '/' },
    ...[...groups].map(([folder, items]) => ({ text: folder[0].toUpperCase() + folder.slice(1), items })),
  ]
}

// files returns the pages in the folders, such as how-to/test.md.
function files(): string[] {
  const folders = readdirSync(docs, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !/^\.|^node_modules$/.test(entry.name))
  return folders.flatMap(({ name }) => readdirSync(docs + name).filter((file) => file.endsWith('.md')).map((file) => `${name}/${file}`))
}

// title returns the first heading of a page as HTML.
function title(page: string): string {
  const heading = /^# (.+)$/m.exec(read(page))
  if (!heading) {
    throw new Error(`docs/${page} has no heading: begin it with "# "`)
  }
  return heading[1].replaceAll('`', '').replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}

function read(page: string): string {
  return readFileSync(docs + page, 'utf8')
}
