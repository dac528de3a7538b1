/**
 * The operations of JSON patches, with the error texts of evanphx/json-patch. PATCH does not return these texts; a
 * mutating policy does.
 */
import { Budget } from '../base/budget.ts'
import { eachPart, kept } from '../base/parts.ts'
import { StatusError, badRequest, requestEntityTooLarge } from '../api/status.ts'
import type { JsonTree } from '../json/json.ts'
import { MAX_NESTING, nestsDeeper } from '../json/json.ts'
import type { Container, DocumentNode } from './json-document.ts'
import { OpenMap, TextSizes, closed, nodesEqual, opened } from './json-document.ts'
import type { JsonPatch, Operation } from './json-patch.ts'

/** Bytes by which the `copy` operations of one patch may make a document grow. */
const MAX_COPIED = 3 * 1024 * 1024
/**
 * Elements that the insertions and removals of one patch may shift. An insertion at the front of a list shifts all
 * its elements.
 */
const MAX_MOVED = 100_000_000

/** The weight of an operation in `PART`: an operation may shift as many elements as the longest list has. */
const OPERATION = 64

const MISSING = 'missing value'
const BAD_INDEX = 'invalid index referenced'

/** 422 without details. */
export class PatchRejection extends StatusError {
  constructor(
    readonly why: string,
    readonly isFailedTest = false,
  ) {
    super(422, 'Invalid', 'the server rejected our request due to an error in our request', {})
  }
}

export interface Patched {
  readonly document: JsonTree
  /** Bytes that `copy` operations have added. Until the document is decoded, copies share their values. */
  readonly copied: number
}

/**
 * @throws PatchRejection when an operation can't be done
 */
export function applyJsonPatch(document: JsonTree, patch: JsonPatch): Patched {
  const tooDeep = () => badRequest('exceeded max depth')
  let patched: Patched
  try {
    patched = applied(document, patch)
  } catch (error) {
    // each operation can nest the document deeper, so that the stack overflows between two operations
    throw error instanceof RangeError ? tooDeep() : error
  }
  if (nestsDeeper(patched.document, MAX_NESTING)) throw tooDeep()
  return patched
}

/** What the operations of a patch have spent together. */
interface Spent {
  copied: number
  readonly moved: Budget
  readonly sizes: TextSizes
}

function applied(document: JsonTree, { operations }: JsonPatch): Patched {
  const so = kept(operations, () => ({
    root: opened(document),
    budget: { copied: 0, moved: new Budget(MAX_MOVED), sizes: new TextSizes() } satisfies Spent as Spent,
    isAsStored: true,
  }))
  eachPart(
    operations,
    (operation) => {
      const { root, budget, isAsStored } = so
      if (root === undefined) throw new PatchRejection('the document is no container')
      if (operation.op !== 'test') so.isAsStored = false
      else if (isAsStored && !operation.isSpelledAsStored) throw testFailed(operation)
      so.root = applyOperation(root, operation, budget)
    },
    OPERATION,
  )
  if (so.root === undefined) throw new PatchRejection('the document is no container')
  return { document: closed(so.root), copied: so.budget.copied }
}

function applyOperation(root: Container, operation: Operation, budget: Spent): Container {
  const { value = null, path = '' } = operation
  switch (operation.op) {
    case 'add': {
      const place = find(root, operation.path, (at) => `add operation does not apply: doc is missing path: "${at}"`)
      within(`error in add for path: '${path}'`, () => add(place, value, budget.moved))
      return root
    }
    case 'remove': {
      const place = find(root, operation.path, (at) => `remove operation does not apply: doc is missing path: "${at}"`)
      within(`error in remove for path: '${path}'`, () => remove(place, budget.moved))
      return root
    }
    case 'replace': {
      if (operation.path === '')
        return opened(value) ?? fail('replace operation value must be object or array: %!w(<nil>)')
      const place = find(root, operation.path, (at) => `replace operation does not apply: doc is missing path: ${at}`)
      instead(`replace operation does not apply: doc is missing key: ${path}: ${MISSING}`, () => get(place))
      put(place, value)
      return root
    }
    case 'move': {
      const from = find(root, operation.from, (at) => `move operation does not apply: doc is missing from path: ${at}`)
      const moved = within(`error in move for path: '${from.key}'`, () => {
        const found = get(from)
        remove(from, budget.moved)
        return found
      })
      const place = find(root, operation.path, missingDestination('move'))
      within(`error in move for path: '${path}'`, () => add(place, moved ?? null, budget.moved))
      return root
    }
    case 'copy': {
      const source = find(
        root,
        operation.from,
        (at) => `copy operation does not apply: doc is missing from path: ${at}`,
      )
      const copied = within(`error in copy for from: '${operation.from}'`, () => get(source))
      const place = find(root, operation.path, missingDestination('copy'))
      const copy = closed(copied ?? null)
      budget.copied += copied === undefined ? 0 : budget.sizes.of(copy)
      if (budget.copied > MAX_COPIED)
        fail(
          `Unable to complete the copy, the accumulated size increase of copy is ${budget.copied}, exceeding the limit ${MAX_COPIED}`,
        )
      within('error while adding value during copy', () => add(place, copy, budget.moved))
      return root
    }
    case 'test':
      if (!passes(root, operation)) throw testFailed(operation)
      return root
    default:
      return fail(`Unexpected kind: ${operation.op ?? 'unknown'}`)
  }
}

const missingDestination = (operation: string) => (at: string) =>
  `${operation} operation does not apply: doc is missing destination path: ${at}`

function passes(root: Container, { path, value }: Operation): boolean {
  if (path === '') return nodesEqual(root, value ?? null)
  const place = find(root, path, (at) => `test operation does not apply: is missing path: ${at}`)
  return isEqual(
    within(`error in test for path: '${path}'`, () => get(place)),
    value,
  )
}

const testFailed = ({ path }: Operation) => new PatchRejection(`testing value ${path} failed: test failed`, true)

function fail(why: string): never {
  throw new PatchRejection(why)
}

/** Puts the name of the failed operation before the text of an error inside it. */
const within = <Made>(what: string, work: () => Made): Made => rejectedAs((why) => `${what}: ${why}`, work)

const instead = <Made>(what: string, work: () => Made): Made => rejectedAs(() => what, work)

function rejectedAs<Made>(text: (why: string) => string, work: () => Made): Made {
  try {
    return work()
  } catch (error) {
    throw error instanceof PatchRejection ? new PatchRejection(text(error.why)) : error
  }
}

/** An absent value and null equal each other, and nothing else. */
const isEqual = (found: DocumentNode | undefined, value: JsonTree | undefined): boolean =>
  found === undefined || found === null
    ? value === undefined || value === null
    : value !== undefined && value !== null && nodesEqual(found, value)

/** A member of an object or an element of a list, which need not exist. */
interface Place {
  readonly container: Container
  readonly key: string
}

/** @param missing makes the error for a place that does not exist */
function find(root: Container, pointer: string | undefined, missing: (at: string) => string): Place {
  return instead(`${missing(pointer ?? '')}: ${MISSING}`, () => {
    if (pointer === undefined) return fail(MISSING)
    // the text before the first slash is ignored
    const [, ...parts] = pointer.split('/')
    const key = parts.pop()
    if (key === undefined) return fail(MISSING)
    let container = root
    for (const part of parts) {
      const place = { container, key: unescaped(part) }
      const inner = opened(get(place) ?? null)
      if (inner === undefined) return fail(MISSING)
      put(place, inner)
      container = inner
    }
    return { container, key: unescaped(key) }
  })
}

/** One pass from left to right: `~01` is `~1`. */
const unescaped = (part: string) => part.replace(/~[01]/g, (escape) => (escape === '~1' ? '/' : '~'))

function get({ container, key }: Place): DocumentNode | undefined {
  if (container instanceof OpenMap) return container.members.get(key)
  return container.items[existing(key, container.items.length)]
}

/** Go's Atoi: a sign and leading zeros are fine. Negative ones count from the end. */
function indexOf(key: string, length: number): number {
  if (!/^[+-]?\d+$/.test(key)) return fail(`strconv.Atoi: parsing ${JSON.stringify(key)}: invalid syntax`)
  const at = Number(key)
  if (!Number.isSafeInteger(at)) return fail(`strconv.Atoi: parsing ${JSON.stringify(key)}: value out of range`)
  return at < -length ? noSuchIndex(at) : at < 0 ? at + length : at
}

const noSuchIndex = (at: number): never => fail(`Unable to access invalid index: ${at}: ${BAD_INDEX}`)

function existing(key: string, length: number): number {
  const at = indexOf(key, length)
  return at < length ? at : noSuchIndex(at)
}

/** Puts a value where `get` found one. */
function put({ container, key }: Place, value: DocumentNode): void {
  if (container instanceof OpenMap) container.members.set(key, value)
  else container.items[indexOf(key, container.items.length)] = value
}

function add({ container, key }: Place, value: DocumentNode, moved: Budget): void {
  if (container instanceof OpenMap) {
    container.members.set(key, value)
    return
  }
  const { items } = container
  const at = key === '-' ? items.length : indexToAdd(key, items.length)
  spendMoves(moved, items.length - at)
  items.splice(at, 0, value)
}

function spendMoves(moved: Budget, count: number): void {
  if (!moved.spend(count))
    throw requestEntityTooLarge(`the operations of a JSON patch move more than ${MAX_MOVED} elements of arrays`)
}

function indexToAdd(key: string, length: number): number {
  if (!/^[+-]?\d+$/.test(key))
    return within(`value was not a proper array index: '${key}'`, () => indexOf(key, length + 1))
  const at = indexOf(key, length + 1)
  return at > length ? noSuchIndex(at) : at
}

function remove({ container, key }: Place, moved: Budget): void {
  if (!(container instanceof OpenMap)) {
    const at = existing(key, container.items.length)
    spendMoves(moved, container.items.length - at)
    container.items.splice(at, 1)
  } else if (!container.members.delete(key)) fail(`Unable to remove nonexistent key: ${key}: ${MISSING}`)
}
