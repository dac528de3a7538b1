/**
 * For the validation of a CustomResourceDefinition: errors of the old object that an update may keep, and facts that
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
  /**
   * True: validation does not check the CA certificates of the converter, because the definition is not established
   * yet, or its stored certificates are invalid.
   */
  readonly authorities: boolean
  readonly tooManyFields: ReadonlySet<string>
  /** In this update the rules of these versions have no cost limit. */
  readonly unchangedVersions: ReadonlySet<string>
}

/** The inputs with which validation checks every version. */
export interface Checks {
  readonly lenient: Leniency
  /** Undefined if no version has rules. */
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
