/**
 * Validation of a CustomResourceDefinition: the errors of the old object that an update may keep, and the facts that
 * validation needs beside the definition.
 */
import type { RuleEngine } from '../custom-resources/rules.ts'
import type { SchemaLeniency } from './schema-validation.ts'

/** Errors that an update may keep. */
export interface Leniency {
  readonly schema: SchemaLeniency
  readonly missingSchemas: boolean
  readonly unprunedDefaults: boolean
  readonly reviewVersions: boolean
  /** The certificates of the converter are not checked before the definition is established. */
  readonly authorities: boolean
  readonly tooManyFields: ReadonlySet<string>
  /** Versions whose rules have no cost limit in this update. */
  readonly unchangedVersions: ReadonlySet<string>
}

/** What all versions are checked by. */
export interface Checks {
  readonly lenient: Leniency
  /** Undefined without rules. */
  readonly engine: RuleEngine | undefined
}

export const STRICT: Leniency = {
  schema: {},
  missingSchemas: false,
  unprunedDefaults: false,
  reviewVersions: false,
  authorities: true,
  tooManyFields: new Set(),
  unchangedVersions: new Set(),
}
