// Generated from the facts by `npm run generate`. Do not edit.
import type * as MetaV1 from './v1.ts'

export interface PartialObjectMetadataList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: MetaV1.PartialObjectMetadata[]
}
