/** Definitions of well-known projects, and objects with what kube-apiserver answers to a dry run that creates them. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonObject, KubeObject } from '../../src/api/object.ts'

export interface Case {
  readonly title: string
  readonly path: string
  readonly object: JsonObject
  readonly answer: {
    readonly code: number
    readonly message?: string
    readonly causes?: readonly object[]
    /** The spec with defaults, if it differs from that of the object. */
    readonly spec?: JsonObject
  }
}

export interface Project {
  readonly definitions: readonly KubeObject[]
  readonly cases: readonly Case[]
}

export const PROJECTS = ['gateway-api', 'cert-manager', 'crossplane', 'cluster-api']

export const projectOf = (name: string): Project =>
  // the fixture is the project's own
  JSON.parse(readFileSync(join(import.meta.dirname, `../fixtures/definitions/${name}.json`), 'utf8')) as Project
