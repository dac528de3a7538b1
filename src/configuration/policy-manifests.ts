/**
 * ValidatingAdmissionPolicyConfiguration and MutatingAdmissionPolicyConfiguration. Their one field names a directory of
 * policies (`staticManifestsDir`), which this server does not read. It is refused: policies that nobody enforces would let
 * pass what they forbid.
 */
import * as z from 'zod/mini'
import { readVersioned } from './versioned.ts'

const configuration = z.strictObject({})

/** @throws Error */
export const readPolicyManifests =
  (kind: 'ValidatingAdmissionPolicyConfiguration' | 'MutatingAdmissionPolicyConfiguration') =>
  (raw: unknown): void => {
    if (raw !== undefined)
      readVersioned(configuration, raw, { group: 'apiserver.config.k8s.io', versions: ['v1'], kind })
  }
