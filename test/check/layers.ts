/**
 * The layers of the code, lowest first. A file imports only from its own layer or lower ones; a lower layer gets
 * functions of a higher one as arguments. Layers on one line are one level. The CLI is a program of its own that no
 * other code imports.
 */
import { dirname, join } from 'node:path'

export const levels: readonly (readonly string[])[] = [
  ['log', 'go', 'base', 'json', 'api', 'cel', 'migrations'],
  ['x509', 'spdy'],
  ['schema'],
  ['configuration'],
  ['env', 'settings', 'storage'], // a Worker's bindings are its storage, so its settings belong to this layer
  ['durable-objects'],
  ['request'],
  ['codec'],
  ['validation'],
  ['patch'],
  ['tenancy'],
  ['webhooks', 'outgoing'],
  ['authentication'],
  ['authorization'],
  ['audit'],
  ['expressions'],
  ['registry'],
  ['metrics'],
  ['admission'],
  ['bootstrap'],
  ['flowcontrol'],
  ['openapi'],
  ['controllers'],
  ['endpoints'],
  ['server'],
  ['cli'],
]

const levelOf: ReadonlyMap<string, number> = new Map(
  levels.flatMap((names, level) => names.map((name) => [name, level] as const)),
)

/** Files that belong to another layer than that of their folder. */
const elsewhere: ReadonlyMap<string, string> = new Map([
  ['src/env.ts', 'env'],
  ['src/settings.ts', 'settings'],
  ['src/index.ts', 'server'],
  ['src/server.ts', 'server'],
  // all layers that measure something use this one
  ['src/metrics/series.ts', 'api'],
  // controllers run in this object
  ['durable-objects/controller-manager.ts', 'controllers'],
  ['durable-objects/absent-owners.ts', 'controllers'],
  ['durable-objects/sightings.ts', 'controllers'],
])

export const layerOf = (file: string): string => elsewhere.get(file) ?? /^(?:src\/)?([^/]+)\//.exec(file)?.[1] ?? file

export interface Import {
  readonly from: string
  readonly to: string
  /** The program does not have this import at run time. */
  readonly isType: boolean
}

/** Relative imports and exports of a source file. */
export function importsIn(file: string, source: string): Import[] {
  const statement = /^(?:import|export)\s+(type\s)?([^'";]*?from\s+)?'(\.[^']+)'/gm
  return [...source.matchAll(statement)].map(([, type, , target = '']) => ({
    from: file,
    to: join(dirname(file), target),
    isType: type !== undefined,
  }))
}

/** @returns one line a problem */
export function layerProblems(imports: readonly Import[]): string[] {
  const problems: string[] = []
  for (const { from, to } of imports) {
    const [below, above] = [layerOf(from), layerOf(to)].map((layer) => {
      const level = levelOf.get(layer)
      if (level === undefined) throw new Error(`${layer} is in no layer: say where it belongs in test/check/layers.ts`)
      return level
    }) as [number, number]
    if (above > below) problems.push(`${from} -> ${to}: ${layerOf(from)} is below ${layerOf(to)}`)
  }
  return problems
}

const MAX_CIRCLE = 5

/** Import cycles at run time: none may have more than a few files, and none may cross folders. */
export function circleProblems(imports: readonly Import[]): string[] {
  return circlesOf(imports.filter(({ isType }) => !isType))
    .filter((files) => files.length > MAX_CIRCLE || new Set(files.map(dirname)).size > 1)
    .map((files) => `${files.length} files import each other in a circle: ${files.sort().join(', ')}`)
}

/** Strongly connected components of more than one file (Tarjan). */
function circlesOf(imports: readonly Import[]): string[][] {
  const targets = Map.groupBy(imports, ({ from }) => from)
  const index = new Map<string, number>()
  const low = new Map<string, number>()
  const path: string[] = []
  const onPath = new Set<string>()
  const circles: string[][] = []
  const visit = (file: string): void => {
    index.set(file, index.size)
    low.set(file, index.get(file)!)
    path.push(file)
    onPath.add(file)
    for (const { to } of targets.get(file) ?? []) {
      if (!index.has(to)) visit(to)
      else if (!onPath.has(to)) continue
      low.set(file, Math.min(low.get(file)!, low.get(to)!))
    }
    if (low.get(file) !== index.get(file)) return
    const circle = path.splice(path.indexOf(file))
    for (const member of circle) onPath.delete(member)
    if (circle.length > 1) circles.push(circle)
  }
  for (const file of targets.keys()) if (!index.has(file)) visit(file)
  return circles
}
