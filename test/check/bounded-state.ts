/**
 * State that outlives a request declares its bound. A collection at module level, or in an object that lives as long as
 * an isolate, a Durable Object or the local server, is a BoundedMap, or never grows, or has `Bound:` in the comment
 * above it. No such place keeps an iterator of a collection.
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Files whose objects live longer than a request. */
const LIVING = /^(durable-objects|src\/(storage|tenancy|flowcontrol|endpoints|cli|authentication))\//

/** An empty collection that code fills later. */
const EMPTY = String.raw`(new (Map|Set)(<.*>)?\(\)|\[\]|\{\}|Object\.create\(null\))`
const atModuleLevel = new RegExp(String.raw`^(?:export )?(?:const|let) (\w+)\b.*?= ${EMPTY}(?: as .*)?$`)
const inAnInstance = new RegExp(
  String.raw`^  (?:(?:private|protected|public|readonly|static|declare) )*(?!const |let |return )(#?\w+)\b[^(]*= ${EMPTY}$`,
)
/** Collections keyed by a value in a WeakMap: they live as long as that value. */
const besideAValue = /^(?:export )?const (\w+) = new WeakMap<.*\b(?:Map|Set)<.*>\(\)$/
/** An iterator keeps every former hash table of its map or set until it goes on. */
const keptIterator = new RegExp(
  String.raw`^(?:export )?(?:const |let |  (?:(?:private|protected|public|readonly|static) )*(?!const |let |return ))(#?\w+)\b[^(]*= (?!Object\.)[\w.#]+\.(?:keys|values|entries)\(\)$`,
)
const withContents = /^(?:export )?const (\w+)\b.*= new (?:Map|Set)(?:<.*>)?\((?!\))/

interface Found {
  readonly name: string
  readonly isBounded: boolean
}

export function collectionsOf(path: string, text: string): Found[] {
  const lines = text.split('\n')
  return lines.flatMap((line, at): Found[] => {
    const iterator = keptIterator.exec(line)
    if (iterator !== null) return [{ name: iterator[1]!, isBounded: false }]
    const grows =
      atModuleLevel.exec(line) ?? besideAValue.exec(line) ?? (LIVING.test(path) ? inAnInstance.exec(line) : null)
    const name = (grows ?? withContents.exec(line))?.[1]
    if (name === undefined || /: (readonly .*\[\]|Readonly.*<.*>) = /.test(line)) return []
    if (grows !== null) return [{ name, isBounded: /\bBound: /.test(commentAbove(lines, at)) }]
    return [{ name, isBounded: !new RegExp(String.raw`\b${name}\.(set|add|push)\(`).test(text) }]
  })
}

/** The comment that ends on the line before. */
export function commentAbove(lines: readonly string[], at: number): string {
  let from = at
  while (from > 0 && /^\s*(\/\*\*|\*|\/\/)/.test(lines[from - 1]!)) from--
  return lines.slice(from, at).join('\n')
}

/** `FILE: NAME` of each collection without a bound. */
export function unboundedIn(root: string): string[] {
  return globSync(['src/**/*.ts', 'durable-objects/**/*.ts'], { cwd: root }).flatMap((path) =>
    collectionsOf(path, readFileSync(join(root, path), 'utf8'))
      .filter(({ isBounded }) => !isBounded)
      .map(({ name }) => `${path}: ${name}`),
  )
}
