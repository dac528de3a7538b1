/**
 * Counts the work of a server in this process. Each function call and each loop iteration counts as one, in this
 * project's code and in the packages that it bundles. A built-in operation on a whole value counts as one for every few
 * of the value's parts. Nothing is timed, and the code does not know that it is counted.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import type { Plugin } from 'esbuild'
import { parseAst } from 'vitest/node'

const SRC = join(import.meta.dirname, '../../src')

/** Constants that the counted server has smaller than the real one, so that small bodies behave like large ones. */
const constants: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'base/parts.ts': { MUCH: '16', RUN: '16', MERGED: '16' },
  'json/parse-json.ts': { STORED_AT_ONCE: '256' },
  'json/value-order.ts': { FEW: '16' },
  'api/status.ts': { MAX_PROBLEMS: '32', MAX_REPORTED: '4096' },
  'codec/encode/list-body.ts': { AT_ONCE: '256' },
  'codec/encode/indent.ts': { SOME: '256' },
  'codec/yaml/text.ts': { CHARACTERS: '256' },
  'base/slices.ts': {
    LARGE: '256',
    TURN: '16',
    HEAVY: '256',
    MANY_VALUES: '256', // more than Pods have; tests that write Pods in parts take minutes
    SLICE_LENGTH: '2048',
    turnOfOthers: '(): Promise<void> => new Promise((resolve) => setImmediate(resolve))', // a millisecond sooner
  },
  'storage/streams/lines.ts': { SLICE: '2048' },
  'validation/difference-text.ts': { MAX_STEPS: '1024', MAX_SHOWN: '64' },
  'validation/written-lines.ts': { AT_ONCE: '16' },
}

const smaller: Plugin = {
  name: 'smaller',
  setup({ onLoad }) {
    onLoad(
      {
        filter:
          /\/src\/(?:api\/status|base\/(?:parts|slices)|json\/(?:parse-json|value-order)|codec\/(?:encode\/(?:indent|list-body)|yaml\/text)|storage\/streams\/lines|validation\/(?:difference-text|written-lines))\.ts$/,
      },
      ({ path }) => {
        let contents = readFileSync(path, 'utf8')
        for (const [name, value] of Object.entries(constants[path.slice(SRC.length + 1)] ?? {})) {
          const changed = contents.replace(new RegExp(`^((?:export )?const ${name} = ).*$`, 'm'), `$1${value}`)
          if (changed === contents) throw new Error(`${path} has no ${name}`)
          contents = changed
        }
        return { contents, loader: 'ts' }
      },
    )
  },
}

export interface Counted {
  work: number
  /** The amount of work at which `seen` is called. */
  next: number
  seen: () => void
  /** Counts a value that one built-in operation copies. */
  copied: (value: unknown) => void
}

const COUNTER = `
export const counted$ = { work: 0, next: Infinity, seen() {}, copied() {} }
const copied$ = (value) => (counted$.copied(value), value)
const count$ = () => { if (++counted$.work >= counted$.next) counted$.seen() }
`

const LOOPS = new Set(['ForStatement', 'ForInStatement', 'ForOfStatement', 'WhileStatement', 'DoWhileStatement'])
const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'])

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly name?: string
  readonly body?: Node
  readonly argument?: Node
  readonly callee?: Node
  readonly arguments?: readonly Node[]
  readonly id?: Node
  readonly properties?: readonly Node[]
  readonly init?: Node | null
}

/** The code with a counter in every function and every loop. */
function instrumented(code: string): string {
  const inserts: [at: number, text: string][] = []
  const visit = (node: Node): void => {
    if ((LOOPS.has(node.type) || FUNCTIONS.has(node.type)) && node.body != null) {
      const { type, start, end } = node.body
      if (type === 'BlockStatement' || type === 'FunctionBody') inserts.push([directivesEnd(node.body), 'count$();'])
      else if (LOOPS.has(node.type)) inserts.push([start, '{count$();'], [end, '}'])
      else inserts.push([start, '(count$(),('], [end, '))'])
    }
    const copied = copiedBy(node)
    if (copied !== undefined) inserts.push([copied.start, 'copied$(('], [copied.end, '))'])
    for (const value of Object.values(node) as unknown[])
      for (const one of Array.isArray(value) ? (value as unknown[]) : [value])
        if (typeof one === 'object' && one !== null && 'type' in one) visit(one as Node)
  }
  visit(parseAst(code) as unknown as Node)
  inserts.sort(([a], [b]) => a - b) // inserts at one place keep their order: outer nodes first
  let text = COUNTER
  let from = 0
  for (const [at, insert] of inserts) {
    text += code.slice(from, at) + insert
    from = at
  }
  return text + code.slice(from)
}

/** The value that the node copies: by spread, by `new Set` or `new Map`, or by a rest pattern of an object. */
function copiedBy(node: Node): Node | undefined {
  const { type, argument, callee, arguments: [first, ...more] = [], id, init } = node
  if (type === 'SpreadElement') return argument
  if (type === 'NewExpression' && /^(Set|Map)$/.test(callee?.name ?? '') && more.length === 0)
    return first?.type === 'SpreadElement' ? undefined : first
  const isRest = type === 'VariableDeclarator' && id?.properties?.some((one) => one.type === 'RestElement') === true
  return isRest ? (init ?? undefined) : undefined
}

/** The place after the opening brace and after directives such as 'use strict'. */
function directivesEnd({ start, ...block }: Node): number {
  let at = start + 1
  for (const one of (block.body ?? []) as unknown as (Node & { readonly directive?: string | null })[])
    if (typeof one.directive === 'string') at = one.end
  return at
}

/** @param entry a file of test/bench @returns its exports and the counter */
export async function countedBundle<Exports>(entry: string): Promise<Exports & { readonly counted$: Counted }> {
  const directory = mkdtempSync(join(import.meta.dirname, '../../node_modules/.kedge-counted-'))
  try {
    const { outputFiles } = await build({
      entryPoints: [join(import.meta.dirname, '../bench', entry)],
      bundle: true,
      write: false,
      format: 'esm',
      platform: 'node',
      target: 'es2024',
      alias: { 'cloudflare:workers': join(import.meta.dirname, '../engine-in-process/workers-module.ts') },
      plugins: [smaller],
      logLevel: 'warning',
    })
    const file = join(directory, 'counted.mjs')
    writeFileSync(file, instrumented(outputFiles[0]!.text))
    return (await import(pathToFileURL(file).href)) as Exports & { readonly counted$: Counted }
  } finally {
    rmSync(directory, { recursive: true })
  }
}
