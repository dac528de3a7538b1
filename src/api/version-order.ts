/**
 * Kubernetes' order of a group's versions: v10 > v2 > v1 > v2beta1 > v1beta2 > v1alpha1 > others by name
 * (apimachinery's CompareKubeAwareVersionStrings). The result is negative if `a` comes first, that is, if `a` is
 * preferred.
 */
import { ownValue } from './own.ts'

export function compareVersions(a: string, b: string): number {
  const left = parse(a)
  const right = parse(b)
  if (left === undefined && right === undefined) return a < b ? -1 : a > b ? 1 : 0
  if (left === undefined) return 1
  if (right === undefined) return -1
  return right.stage - left.stage || right.major - left.major || right.minor - left.minor
}

const stages: Readonly<Record<string, number>> = { alpha: 0, beta: 1 }

function parse(version: string): { stage: number; major: number; minor: number } | undefined {
  const match = /^v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?$/.exec(version)
  if (match === null) return undefined
  const [, major, stage, minor] = match
  return { stage: stage === undefined ? 2 : ownValue(stages, stage)!, major: Number(major), minor: Number(minor ?? 0) }
}

/** The stage of a version; `ga` for v1. Undefined: the version has another form. */
export function stageOf(version: string): 'alpha' | 'beta' | 'ga' | undefined {
  const parsed = parse(version)
  return parsed === undefined ? undefined : (['alpha', 'beta', 'ga'] as const)[parsed.stage]
}
