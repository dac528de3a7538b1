/** Admission policies with rules of public policy libraries, and objects with the answers of kube-apiserver to them. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadAll } from 'js-yaml'
import type { JsonObject, KubeObject } from '../../src/api/object.ts'

export interface PolicyAnswer {
  readonly code: number
  readonly reason?: string
  readonly message?: string
  readonly causes?: readonly object[]
  readonly warnings?: readonly string[]
  /** Fields that a mutation may have changed. */
  readonly labels?: JsonObject
  readonly containers?: readonly JsonObject[]
}

export interface PolicyCase {
  readonly title: string
  readonly method: string
  readonly path: string
  readonly object?: JsonObject
  readonly answer: PolicyAnswer
}

/** Two libraries, and policies about fields that expressions always see with their zero value. */
export const LIBRARIES = ['kyverno', 'gatekeeper', 'zero-values']

const read = (name: string): string => readFileSync(join(import.meta.dirname, '../fixtures/policies', name), 'utf8')
// the fixtures are the project's own
export const manifestsOf = (library: string): KubeObject[] => loadAll(read(`${library}.yaml`)) as KubeObject[]
export const casesOf = (library: string): PolicyCase[] => JSON.parse(read(`${library}.json`)) as PolicyCase[]

/** The path to create the manifest at. */
export function collectionOf({ apiVersion = '', kind = '', metadata }: KubeObject): string {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
  const namespace = metadata.namespace ? `/namespaces/${metadata.namespace}` : ''
  return `${root}${namespace}/${kind.toLowerCase().replace(/y$/, 'ie')}s`
}

export const dryRun = (path: string): string => `${path}?dryRun=All&fieldValidation=Strict`

/** The parts of an answer that the policies determine. */
export function policyAnswer(code: number, body: JsonObject, warnings: string): PolicyAnswer {
  // an object, or a Status
  const { reason, message, details, metadata, spec } = body as {
    readonly reason?: string
    readonly message?: string
    readonly details?: { readonly causes?: object[] }
    readonly metadata?: { readonly labels?: JsonObject; readonly namespace?: string }
    readonly spec?: { readonly containers?: JsonObject[] }
  }
  const told = [...warnings.matchAll(/299 - "((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) => text.replace(/\\(.)/g, '$1'))
  const mutated = metadata?.namespace === 'assign' && {
    labels: metadata.labels,
    containers: spec?.containers?.map(({ name, imagePullPolicy }) => ({ name, imagePullPolicy })),
  }
  const answer = {
    code,
    reason,
    message,
    causes: details?.causes,
    warnings: told.length ? told : undefined,
    ...mutated,
  }
  return JSON.parse(JSON.stringify(answer)) as PolicyAnswer // without what is undefined
}
