import { withoutSpecAndMetadata } from '../../patch/reset-fields.ts'
import type { DeviceTaintRule, DeviceTaintRuleSpec, DeviceTaintSelector } from '../../api/resource/v1alpha3.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { path, tooMany } from '../../api/field.ts'
import type { KubeObject } from '../../api/object.ts'
import { timeText } from '../../schema/time.ts'
import { validateConditions } from '../../validation/conditions.ts'
import { validateLabelText } from '../../validation/field-rules.ts'
import { keepMetadata } from '../metadata-of-status.ts'
import { deviceTaintRulePrinter } from '../../codec/table/cluster.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'
import { taintRuleRules } from './device-taint-work.ts'
import { taintErrors } from './devices.ts'
import { driverNameErrors, poolNameErrors } from './names.ts'

const MAX_CONDITIONS = 8

export const deviceTaintRules: BuiltInDefinition<DeviceTaintRule & KubeObject> = {
  workloadWork: taintRuleRules,
  withoutTable: ['status'],
  printer: deviceTaintRulePrinter,
  resetFields: { status: withoutSpecAndMetadata },
  hasGeneration: true,
  /** Toleration times count from timeAdded. A new effect sets timeAdded to now, unless the request sets it. */
  prepareForUpdate({ spec: { taint } = {} }, { spec: { taint: old } = {} }, { now }) {
    if (taint !== undefined && taint.effect !== old?.effect && taint.timeAdded === old?.timeAdded)
      taint.timeAdded = timeText(now)
  },
  validate: ({ spec = {} }) => specErrors(spec, undefined, path('spec')),
  validateUpdate: ({ spec = {} }, { spec: old = {} }) => specErrors(spec, old, path('spec')),
  subresources: {
    status: {
      prepareForUpdate: ({ metadata }, old) => keepMetadata(metadata, old.metadata),
      validateUpdate: ({ status: { conditions } = {} }) =>
        conditionErrors(conditions ?? [], path('status', 'conditions')),
    },
  },
}

const specErrors = (spec: DeviceTaintRuleSpec, old: DeviceTaintRuleSpec | undefined, at: FieldPath): FieldError[] => [
  ...selectorErrors(spec.deviceSelector ?? {}, at.child('deviceSelector')),
  ...taintErrors(spec.taint ?? {}, at.child('taint'), old?.taint),
]

const selectorErrors = ({ driver, pool, device }: DeviceTaintSelector, at: FieldPath): FieldError[] => [
  ...(driver === undefined ? [] : driverNameErrors(driver, at.child('driver'))),
  ...(pool === undefined ? [] : poolNameErrors(pool, at.child('pool'))),
  ...(device === undefined ? [] : validateLabelText(at.child('device'), device)),
]

const conditionErrors = (conditions: Parameters<typeof validateConditions>[1], at: FieldPath): FieldError[] => [
  ...validateConditions(at, conditions),
  ...(conditions.length > MAX_CONDITIONS ? [tooMany(at, conditions.length, MAX_CONDITIONS)] : []),
]
