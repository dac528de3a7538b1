/** Type relations for the checker: equality, assignability, and the substitution of type parameters. */
import type { Type } from './type.ts'
import { DYN, isOpen, listOf, mapOf, opaque, sizeOfType, typeOf } from './type.ts'

/** The type as cel-go's messages write it. */
export function typeText(type: Type): string {
  switch (type.kind) {
    case 'error':
      return '!error!'
    case 'list':
      return `list(${typeText(type.element)})`
    case 'map':
      return `map(${typeText(type.key)}, ${typeText(type.value)})`
    case 'struct':
    case 'parameter':
      return type.name
    case 'opaque':
      return type.parameters.length === 0 ? type.name : `${type.name}(${type.parameters.map(typeText).join(', ')})`
    case 'wrapper':
      return `wrapper(${typeText(type.of)})`
    case 'type':
      return type.of === undefined ? 'type' : `type(${typeText(type.of)})`
    default:
      return type.kind
  }
}

export const isDyn = (type: Type): boolean => type.kind === 'dyn' || type.kind === 'any'

export function sameType(a: Type, b: Type): boolean {
  if (a === b) return true
  if (a.kind === 'wrapper') return sameType(a.of, b)
  if (b.kind === 'wrapper') return sameType(a, b.of)
  if (a.kind !== b.kind) return false
  switch (a.kind) {
    case 'struct':
    case 'parameter':
      return a.name === (b as typeof a).name // the kinds are the same
    case 'opaque':
      return a.name === (b as typeof a).name && sameTypes(a.parameters, (b as typeof a).parameters)
    case 'type': {
      const of = (b as typeof a).of
      return a.of === undefined || of === undefined ? a.of === of : sameType(a.of, of)
    }
    default:
      return sameTypes(parametersOf(a), parametersOf(b))
  }
}

const sameTypes = (a: readonly Type[], b: readonly Type[]): boolean =>
  a.length === b.length && a.every((type, index) => sameType(type, b[index]!))

export function parametersOf(type: Type): readonly Type[] {
  switch (type.kind) {
    case 'list':
      return [type.element]
    case 'map':
      return [type.key, type.value]
    case 'opaque':
      return type.parameters
    case 'type':
      return type.of === undefined ? [] : [type.of]
    default:
      return []
  }
}

function withParameters(type: Type, parameters: readonly Type[]): Type {
  switch (type.kind) {
    case 'list':
      return listOf(parameters[0]!)
    case 'map':
      return mapOf(parameters[0]!, parameters[1]!)
    case 'opaque':
      return opaque(type.name, ...parameters)
    case 'type':
      return typeOf(parameters[0])
    default:
      return type
  }
}

const nullables: ReadonlySet<Type['kind']> = new Set([
  'null',
  'opaque',
  'struct',
  'any',
  'duration',
  'timestamp',
  'wrapper',
])

/** The type of an expression contains more types than MAX_TYPE_SIZE. */
export class TypeTooLarge extends Error {}

/**
 * The most types in the type of an expression. Each `.map(x, {x: x})` of a chain doubles the type before it, so
 * fourteen make a type of 32,000 types. kube-apiserver has no such limit, but needs 3 seconds for fourteen and gives up
 * on eighteen after 34 seconds.
 */
const MAX_TYPE_SIZE = 1_000
/** The most types that one comparison may visit. */
const MAX_WORK = 20 * MAX_TYPE_SIZE

/** @throws TypeTooLarge */
export function bounded(type: Type): Type {
  if (sizeOfType(type) > MAX_TYPE_SIZE) throw new TypeTooLarge()
  return type
}

/** The types that are bound to type parameters. A failed attempt to match undoes its bindings. */
export class Substitutions {
  private readonly found = new Map<string, Type>()
  /** The number of types that comparisons and substitutions have visited so far. */
  work = 0
  /** The limit of `work` for the current attempt. */
  private most = Infinity
  /** The previous value of each changed binding, so that a failed attempt can be undone. */
  private readonly trail: [name: string, before: Type | undefined][] = []

  /** Whether a value of type `from` fits where the type `to` is required. Binds type parameters of both. */
  assignable(to: Type, from: Type): boolean {
    return this.attempt(() => this.fits(to, from))
  }

  assignableAll(to: readonly Type[], from: readonly Type[]): boolean {
    return to.length === from.length && this.attempt(() => to.every((type, index) => this.fits(type, from[index]!)))
  }

  /** @param free whether an unbound parameter stays or becomes dyn */
  substitute(type: Type, free: 'stay' | 'dyn'): Type {
    if (!isOpen(type)) return type
    this.meet()
    const bound = type.kind === 'parameter' ? this.found.get(type.name) : undefined
    if (bound !== undefined) return this.substitute(bound, free)
    if (type.kind === 'parameter') return free === 'dyn' ? DYN : type
    const parameters = parametersOf(type)
    return bounded(
      withParameters(
        type,
        parameters.map((parameter) => this.substitute(parameter, free)),
      ),
    )
  }

  /**
   * Counts a visited type. Bindings can contain type parameters again, so a comparison can visit more than both types.
   */
  private meet(): void {
    if (++this.work > this.most) throw new TypeTooLarge()
  }

  private attempt(fits: () => boolean): boolean {
    const mark = this.trail.length
    this.most = this.work + MAX_WORK
    const isFit = fits()
    this.most = Infinity
    if (isFit) return true
    while (this.trail.length > mark) {
      const [name, before] = this.trail.pop()!
      if (before === undefined) this.found.delete(name)
      else this.found.set(name, before)
    }
    return false
  }

  private bind(name: string, type: Type): void {
    this.trail.push([name, this.found.get(name)])
    this.found.set(name, type)
  }

  private fits(a: Type, b: Type): boolean {
    this.meet()
    if (a === b) return true
    if (b.kind === 'parameter') {
      const bound = this.bindsTo(a, b)
      if (bound !== 'free, but circular') return bound === 'fits'
    }
    if (a.kind === 'parameter') return this.bindsTo(b, a) === 'fits'
    if (isDyn(a) || isDyn(b) || a.kind === 'error' || b.kind === 'error') return true
    if (a.kind === 'null') return nullables.has(b.kind)
    if (b.kind === 'null') return nullables.has(a.kind)
    const left = a.kind === 'wrapper' ? a.of : a
    const right = b.kind === 'wrapper' ? b.of : b
    if (left.kind !== right.kind) return false
    switch (left.kind) {
      case 'type':
        return true
      case 'list':
      case 'map':
      case 'opaque': {
        if (left.kind === 'opaque' && left.name !== (right as typeof left).name) return false
        const ofRight = parametersOf(right)
        const ofLeft = parametersOf(left)
        return ofLeft.length === ofRight.length && ofLeft.every((type, index) => this.fits(type, ofRight[index]!))
      }
      default:
        return sameType(left, right)
    }
  }

  private bindsTo(type: Type, parameter: Type & { kind: 'parameter' }): 'fits' | 'differs' | 'free, but circular' {
    if (sameType(type, parameter)) return 'fits'
    const bound = this.found.get(parameter.name)
    if (bound !== undefined) {
      if (sameType(type, bound)) return 'fits'
      if (!this.fits(type, bound)) return 'differs'
      const general = moreGeneral(type, bound)
      if (this.isFreeOf(parameter, general)) this.bind(parameter.name, general)
      return 'fits'
    }
    if (!this.isFreeOf(parameter, type)) return 'free, but circular'
    this.bind(parameter.name, type)
    return 'fits'
  }

  private isFreeOf(parameter: Type & { kind: 'parameter' }, within: Type): boolean {
    if (!isOpen(within)) return true
    this.meet()
    if (sameType(parameter, within)) return false
    if (within.kind === 'parameter') {
      const bound = this.found.get(within.name)
      return bound === undefined || this.isFreeOf(parameter, bound)
    }
    return parametersOf(within).every((type) => this.isFreeOf(parameter, type))
  }
}

export const moreGeneral = (a: Type, b: Type): Type => (isAtLeastAsGeneral(a, b) ? a : b)

function isAtLeastAsGeneral(a: Type, b: Type): boolean {
  if (isDyn(a) || a.kind === 'parameter') return true
  if (isDyn(b) || b.kind === 'parameter') return false
  if (a.kind !== b.kind) return false
  if (a.kind === 'type') return true
  if (a.kind !== 'list' && a.kind !== 'map' && a.kind !== 'opaque') return sameType(a, b)
  if (a.kind === 'opaque' && a.name !== (b as typeof a).name) return false
  const ofB = parametersOf(b)
  const ofA = parametersOf(a)
  return ofA.length === ofB.length && ofA.every((type, index) => isAtLeastAsGeneral(type, ofB[index]!))
}
