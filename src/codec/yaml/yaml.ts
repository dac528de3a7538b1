/**
 * Parses YAML bodies like Kubernetes (sigs.k8s.io/yaml): the first document becomes JSON with sorted members. Names
 * that are numbers or booleans become text. Aliases may enlarge a document only as far as kube-apiserver allows, and at
 * most to twice its length.
 */
import { Pace } from '../../base/pace.ts'
import { LARGE, atOnce } from '../../base/slices.ts'
import type { Steps } from '../../base/slices.ts'
import type { Event } from 'js-yaml'
import { parseEvents, YAMLException } from 'js-yaml'
import type { JsonTree } from '../../json/json.ts'
import { MAX_NESTING } from '../../json/json.ts'
import { decodeUtf8 } from '../../base/utf8.ts'
import { YamlError, yamlErrorAt, yamlSyntaxError } from './error.ts'
import { Composer } from './nodes.ts'
import { areInFlow, isTolerated, tolerated } from './tolerated.ts'
import { NodeReader } from './values.ts'

export { YamlError }

export interface ParsedYaml {
  readonly tree: JsonTree
  /** `line 7: key "a" already set in map`, in kube-apiserver's order. */
  readonly duplicates: readonly string[]
}

/**
 * The most lists, maps, names and scalars of a document. A scalar behind a dash counts twice, because the parser first
 * takes it for a name. The parser reads them without a pause, which takes some 50 ms.
 * The number is three times the limit for the members of a map.
 */
const MAX_NODES = 150_000

/**
 * Characters that aliases, and likewise blanks, may add to any text. To a longer one they may add as many as it has: its request has taken room
 * for that many (flowcontrol/large-values.ts).
 */
const FREE_ADDED = LARGE

/**
 * Counts nodes while the parser runs. The parser has no limit for nodes, but compares the depth of each node with this
 * value, which calls valueOf.
 */
class NodeLimit {
  private nodes = 0

  valueOf(): number {
    if (++this.nodes > MAX_NODES) throw new YamlError(`yaml: more than ${MAX_NODES} nodes`)
    return MAX_NESTING
  }
}

/** @throws {YamlError} */
export const parseYaml = (text: string): ParsedYaml => atOnce(parsingYaml(text))

/** Like parseYaml, in steps. */
export function* parsingYaml(text: string): Steps<ParsedYaml> {
  const document = yield* eventsOf(yield* firstDocument(text))
  yield
  const root = yield* new Composer(document.text, document.events).document()
  yield
  const reader = new NodeReader(Math.max(text.length, FREE_ADDED))
  const tree = root === undefined ? null : yield* reader.read(root)
  return { tree, duplicates: reader.duplicates }
}

/** Parses bytes of UTF-8, or of UTF-16 with a byte order mark. @throws {YamlError} */
export const parseYamlBytes = (bytes: Uint8Array): ParsedYaml => atOnce(parsingYamlBytes(bytes))

/** Like parseYamlBytes, in steps. */
export function* parsingYamlBytes(bytes: Uint8Array): Steps<ParsedYaml> {
  const [first, second] = bytes
  if (first === 0xff && second === 0xfe) return yield* parsingYaml(new TextDecoder('utf-16le').decode(bytes))
  if (first === 0xfe && second === 0xff) return yield* parsingYaml(new TextDecoder('utf-16be').decode(bytes))
  const text = decodeUtf8(bytes)
  if (text.includes('\ufffd') && !isUtf8(bytes)) throw new YamlError('yaml: invalid leading UTF-8 octet')
  return yield* parsingYaml(text.startsWith('\ufeff') ? text.slice(1) : text)
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    return true
  } catch {
    return false
  }
}

/**
 * Parses an applied configuration. `repeated` lists its repeated names.
 * @throws {YamlError} with the text that follows `error decoding YAML: `
 */
export function parseAppliedYaml(bytes: Uint8Array): { readonly tree: JsonTree; readonly repeated: readonly string[] } {
  try {
    const { tree, duplicates } = parseYamlBytes(bytes)
    return { tree, repeated: duplicates }
  } catch (error) {
    throw error instanceof YamlError ? new YamlError(`error converting YAML to JSON: ${error.message}`) : error
  }
}

const mark = /(?:---|\.\.\.)(?:\s|$)/y
const nothing = /^(?:\s*#|%|\s+$)/

/** The text of the first document. A mark at the beginning of a line ends it. */
function* firstDocument(text: string): Steps<string> {
  const pace = new Pace()
  let begun = false
  for (let at = 0; at < text.length;) {
    if (pace.isOver()) yield
    const end = text.indexOf('\n', at)
    mark.lastIndex = at
    if (begun && mark.test(text)) return text.slice(0, at)
    if (!begun) {
      const line = end < 0 ? text.slice(at) : text.slice(at, end)
      begun = line !== '' && !nothing.test(line)
    }
    if (end < 0) break
    at = end + 1
  }
  return text
}

/**
 * The most parses of a text. After an error behind the root node, the next one parses the text up to that error, and
 * after one that kube-apiserver's library tolerates a changed text.
 */
const MAX_ATTEMPTS = 3

/** The line, counted from 1, of a tab in the indentation of the first line that is neither blank nor a comment. */
function* tabbedLine(text: string): Steps<number | undefined> {
  const blank = /(?: *(?:#.*)?|---)\n/y
  const tab = / *\t/y
  const pace = new Pace()
  for (let line = 1, at = 0; ; line++) {
    if (pace.isOver()) yield
    tab.lastIndex = blank.lastIndex = at
    if (tab.test(text)) return line
    if (!blank.test(text)) return undefined
    at = blank.lastIndex
  }
}

/** The parser's events for a document, and the parsed text, which ends with the root node. */
function* eventsOf(text: string, attempts = MAX_ATTEMPTS): Steps<{ events: Event[]; text: string }> {
  const line = yield* tabbedLine(text)
  try {
    if (line !== undefined && /\S/.test(text)) {
      throw yamlErrorAt(line > 1 ? line : 0, 'found character that cannot start any token')
    }
    // the parser only compares it with numbers
    return { events: parseEvents(text, { maxDepth: new NodeLimit() as unknown as number }), text }
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error
    if (attempts > 1 && isTolerated(text, error)) {
      const changed = yield* tolerated(text, Math.max(text.length, FREE_ADDED))
      if (changed !== undefined) {
        const document = yield* eventsOf(changed.text, attempts - 1)
        if (yield* areInFlow(document.events, { ...changed, text: document.text })) return document
      }
    }
    const problem = yamlSyntaxError(text, error)
    if (problem instanceof YamlError) throw problem
    const shorter = text.slice(0, problem.endsAt)
    if (shorter.trim() === '' || shorter.length === text.length || attempts === 1)
      throw new YamlError('yaml: did not find expected node content')
    yield
    return yield* eventsOf(shorter, attempts - 1)
  }
}
