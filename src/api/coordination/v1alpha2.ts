// Generated from the facts by `npm run generate`. Do not edit.
import type * as MetaV1 from '../meta/v1.ts'

export interface LeaseCandidate {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: LeaseCandidateSpec
}
export interface LeaseCandidateList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: LeaseCandidate[]
}
export interface LeaseCandidateSpec {
  leaseName?: string
  pingTime?: MetaV1.MicroTime
  renewTime?: MetaV1.MicroTime
  binaryVersion?: string
  emulationVersion?: string
  strategy?: string
}
