/**
 * Kubernetes' order of a group's versions: v10 > v2 > v1 > v2beta1 > v1beta2 > v1alpha1 > others by name
 * (apimachinery's CompareKubeAwareVersionStrings). The result is negative if `a` comes first, that is, if `a` is
 * preferred.
 */
import { ownValue } from '../base/own.ts'

export const compareVersions = (a: string, b: string): number => compareParsed(parseVersion(a), parseVersion(b))

/** A version's name and, if it has Kubernetes' form, its parts. A long list parses each name once. */
export interface ParsedVersion {
  readonly name: string
  readonly parts: { readonly stage: number; readonly major: number; readonly minor: number } | undefined
}

export const parseVersion = (name: string): ParsedVersion => ({ name, parts: partsOf(name) })

/** The same order for parsed versions. */
export function compareParsed(a: ParsedVersion, b: ParsedVersion): number {
  const [left, right] = [a.parts, b.parts]
  if (left === undefined && right === undefined) return a.name < b.name ? -1 : a.name > b.name ? 1 : 0
  if (left === undefined) return 1
  if (right === undefined) return -1
  return right.stage - left.stage || right.major - left.major || right.minor - left.minor
}

const stages: Readonly<Record<string, number>> = { alpha: 0, beta: 1 }

function partsOf(version: string): ParsedVersion['parts'] {
  const match = /^v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?$/.exec(version)
  if (match === null) return undefined
  const [, major, stage, minor] = match
  return { stage: stage === undefined ? 2 : ownValue(stages, stage)!, major: Number(major), minor: Number(minor ?? 0) }
}

/** The stage of a version; `ga` for v1. Undefined: the version has another form. */
export function stageOf(version: string): 'alpha' | 'beta' | 'ga' | undefined {
  const parsed = partsOf(version)
  return parsed === undefined ? undefined : (['alpha', 'beta', 'ga'] as const)[parsed.stage]
}
