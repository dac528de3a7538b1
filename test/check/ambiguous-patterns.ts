/**
 * A regular expression that can read the same characters in several ways tries all of them before it gives up: the
 * square of a text's length, or worse. This check finds three forms of that in the literals of src: a repetition within
 * a repetition; two repetitions that share a character and may stand side by side; and a repetition at the beginning
 * of a pattern that may begin anywhere, with something behind it that may be missing (`/ +$/`, see src/base/trim.ts).
 *
 * Where the text is short, or can't fail, a comment on the line or above it says why: `// pattern: REASON`.
 */
import { API } from 'typescript/unstable/sync'
import { SyntaxKind } from 'typescript/unstable/ast'
import type { Node as TreeNode, SourceFile } from 'typescript/unstable/ast'
import type { Finding } from './own-keys.ts'

const ALLOWED = /\/\/ pattern: \S/

type Node =
  | { readonly kind: 'characters'; readonly set: ReadonlySet<string> }
  | { readonly kind: 'start' | 'end' | 'look' | 'reference' }
  | { readonly kind: 'group'; readonly branches: readonly Sequence[] }
type Item = { readonly node: Node; readonly min: number; readonly max: number }
type Sequence = readonly Item[]

/** A character of each kind that the patterns distinguish. */
const ALPHABET = [
  ...Array.from({ length: 0x180 }, (_, code) => String.fromCharCode(code)),
  ...'\u03bc\u2028\u2029\ufeff\ufffd\u4e2d\ud83d\ude00',
]

/** @returns the ambiguity of a pattern; undefined if it has none */
export function ambiguityOf(source: string, flags: string): string | undefined {
  const branches = new Reader(source, flags).pattern()
  const nested = branches.some((items) => hasNested(items, false))
  if (nested) return 'a repetition within a repetition'
  if (branches.some(hasNeighbours)) return 'two repetitions that share a character'
  const isFree = !flags.includes('y')
  if (isFree && branches.some(startsOpenly)) return 'a repetition at the beginning, with something behind it'
  return undefined
}

const isOpen = ({ max }: Item): boolean => max === Infinity

/** The characters that a repetition repeats, if its body is a single character; otherwise undefined. */
function charactersOf({ node }: Item): ReadonlySet<string> | undefined {
  if (node.kind === 'characters') return node.set
  if (node.kind !== 'group') return undefined
  const sets = node.branches.map((items) =>
    items.length === 1 && items[0]!.max === 1 ? charactersOf(items[0]!) : undefined,
  )
  return sets.some((set) => set === undefined) ? undefined : new Set(sets.flatMap((set) => [...set!]))
}

/** The characters with which an item may begin. */
function firstOf(items: Sequence): Set<string> {
  const found = new Set<string>()
  for (const item of items) {
    const { node } = item
    if (node.kind === 'characters') for (const character of node.set) found.add(character)
    if (node.kind === 'group') for (const branch of node.branches) for (const one of firstOf(branch)) found.add(one)
    if (!mayBeEmpty(item)) break
  }
  return found
}

const mayBeEmpty = ({ node, min }: Item): boolean =>
  min === 0 ||
  (node.kind === 'group' ? node.branches.some((items) => items.every(mayBeEmpty)) : node.kind !== 'characters')

/**
 * Whether a repeated group contains a repetition, and the group's next turn may begin with a character of that
 * repetition.
 */
function hasNested(items: Sequence, isRepeated: boolean): boolean {
  return items.some((item) => {
    if (item.node.kind !== 'group') return false
    const repeats = isRepeated || isOpen(item)
    return item.node.branches.some((branch) => {
      const last = branch.findLastIndex((one) => !mayBeEmpty(one))
      const tail = branch.slice(Math.max(last, 0))
      const again = firstOf(item.node.kind === 'group' ? item.node.branches.flat() : [])
      const meets = tail.some((one) => isOpen(one) && [...(charactersOf(one) ?? again)].some((c) => again.has(c)))
      return (isOpen(item) && meets) || hasNested(branch, repeats)
    })
  })
}

/** Replaces groups that occur exactly once and have no alternatives by their items. */
const flat = (items: Sequence): Item[] =>
  items.flatMap((item) => {
    const { node, min, max } = item
    return node.kind === 'group' && node.branches.length === 1 && min === 1 && max === 1
      ? flat(node.branches[0]!)
      : [item]
  })

/** Whether a sequence has two repetitions with a common character, and nothing between them must match. */
function hasNeighbours(grouped: Sequence): boolean {
  const items = flat(grouped)
  for (const [at, item] of items.entries()) {
    if (item.node.kind === 'group' && item.node.branches.some(hasNeighbours)) return true
    const set = isOpen(item) ? charactersOf(item) : undefined
    if (set === undefined) continue
    for (const next of items.slice(at + 1)) {
      const other = repeatedFirst(next)
      if (other !== undefined && [...set].some((character) => other.has(character))) return true
      if (!mayBeEmpty(next)) {
        // this item must match, and the repetition also has its character: the repetition may end at any occurrence
        const one = charactersOf(next)
        if (one === undefined || next.max !== 1 || ![...one].every((character) => set.has(character))) break
      }
    }
  }
  return false
}

/** The characters of the repetition that an item is or begins with. */
function repeatedFirst(item: Item): ReadonlySet<string> | undefined {
  if (isOpen(item)) return charactersOf(item)
  if (item.node.kind !== 'group') return undefined
  const sets = item.node.branches.map(([first]) => (first === undefined ? undefined : repeatedFirst(first)))
  const found = sets.flatMap((set) => (set === undefined ? [] : [...set]))
  return found.length === 0 ? undefined : new Set(found)
}

function startsOpenly(items: Sequence): boolean {
  const [first, ...rest] = flat(items)
  if (first === undefined || first.node.kind === 'start') return false
  if (first.node.kind === 'group' && first.max === 1)
    return first.node.branches.some((branch) => startsOpenly([...branch, ...rest]))
  const all = [first, ...rest]
  return all.some((item, at) => {
    const set = isOpen(item) ? charactersOf(item) : undefined
    if (set === undefined || all.slice(at + 1).every(isHarmless)) return false
    // the search may start again inside the text that the repetition has read
    return all.slice(0, at).every((before) => mayBeEmpty(before) || meets(firstOf([before]), set))
  })
}

const meets = (some: ReadonlySet<string>, others: ReadonlySet<string>): boolean =>
  [...some].some((character) => others.has(character))

/** The item matches whatever follows. */
const isHarmless = (item: Item): boolean => item.node.kind !== 'end' && item.node.kind !== 'look' && mayBeEmpty(item)

class Reader {
  private at = 0
  private readonly source: string
  private readonly flags: string

  constructor(source: string, flags: string) {
    this.source = source
    this.flags = flags
  }

  pattern(): Sequence[] {
    const branches: Item[][] = [[]]
    while (this.at < this.source.length && this.source[this.at] !== ')') {
      if (this.source[this.at] === '|') {
        this.at++
        branches.push([])
      } else branches.at(-1)!.push(this.item())
    }
    return branches
  }

  private item(): Item {
    const node = this.node()
    const quantifier = /^(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/.exec(this.source.slice(this.at))
    if (quantifier === null) return { node, min: 1, max: 1 }
    this.at += quantifier[0].length
    const [, sign, min = '', comma, max] = quantifier
    if (sign !== undefined) return { node, min: sign === '+' ? 1 : 0, max: sign === '?' ? 1 : Infinity }
    // a repetition with a small maximum counts as bounded
    return { node, min: Number(min), max: comma === '' ? Number(min) : max === '' ? Infinity : Number(max) }
  }

  private node(): Node {
    const rest = this.source.slice(this.at)
    const opening = /^\((\?:|\?<[A-Za-z]\w*>|\?=|\?!|\?<=|\?<!)?/.exec(rest)
    if (opening !== null) {
      this.at += opening[0].length
      const branches = this.pattern()
      this.at++
      return /^\?<?[=!]$/.test(opening[1] ?? '') ? { kind: 'look' } : { kind: 'group', branches }
    }
    const assertion = /^(?:\^|\$|\\[bB])/.exec(rest)?.[0]
    if (assertion !== undefined) {
      this.at += assertion.length
      return { kind: assertion === '^' ? 'start' : assertion === '$' ? 'end' : 'look' }
    }
    const reference = /^\\(?:[1-9]|k<\w+>)/.exec(rest)?.[0]
    if (reference !== undefined) {
      this.at += reference.length
      return { kind: 'reference' }
    }
    const text =
      /^(?:\[(?:\\.|[^\\\]])*\]|\\(?:u\{[^}]*\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[A-Za-z]|[pP]\{[^}]*\}|.)|.)/su.exec(
        rest,
      )![0]
    this.at += text.length
    const one = new RegExp(`^(?:${text})$`, this.flags.replace(/[gy]/g, ''))
    return { kind: 'characters', set: new Set(ALPHABET.filter((character) => one.test(character))) }
  }
}

/** Ambiguous regular expression literals in the files of these projects. */
export function ambiguousPatternsIn(configs: readonly string[], includes: (file: string) => boolean): Finding[] {
  const api = new API()
  try {
    return api
      .updateSnapshot({ openProjects: [...configs] })
      .getProjects()
      .flatMap(({ program, rootFiles }) =>
        rootFiles.flatMap((name) => {
          const file = includes(name) ? program.getSourceFile(name) : undefined
          return file === undefined ? [] : findingsOf(file)
        }),
      )
  } finally {
    api.close()
  }
}

function findingsOf(file: SourceFile): Finding[] {
  const found: Finding[] = []
  const lines = file.text.split('\n')
  const visit = (node: TreeNode | undefined): void => {
    if (node === undefined) return // a hole in an array pattern
    if (node.kind === SyntaxKind.RegularExpressionLiteral) {
      const text = node.getText(file)
      const slash = text.lastIndexOf('/')
      const why = ambiguityOf(text.slice(1, slash), text.slice(slash + 1))
      const line = file.text.slice(0, node.getStart(file)).split('\n').length
      if (why !== undefined && !ALLOWED.test(lines[line - 1]!) && !ALLOWED.test(lines[line - 2] ?? ''))
        found.push({ file: file.fileName, line, text, why })
    }
    node.forEachChild(visit)
  }
  visit(file)
  return found
}
