import { describe, expect, it } from 'vitest'
import { parseStoredObject } from '../../src/codec/stored-object.ts'

describe('an object from storage', () => {
  it.each<[string, object, object]>([
    [
      'has no null where a list is meant',
      { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'a' }, rules: null },
      { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'a' } },
    ],
    [
      'has none inside of lists and structs',
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: {},
        spec: { selector: null, template: { spec: { containers: null, volumes: [{ name: 'v', emptyDir: null }] } } },
      },
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: {},
        spec: { template: { spec: { volumes: [{ name: 'v' }] } } },
      },
    ],
    [
      'keeps those of free-form JSON',
      { apiVersion: 'apps/v1', kind: 'ControllerRevision', metadata: {}, data: { a: null } },
      { apiVersion: 'apps/v1', kind: 'ControllerRevision', metadata: {}, data: { a: null } },
    ],
    [
      'keeps those of custom resources',
      { apiVersion: 'example.com/v1', kind: 'Thing', metadata: {}, spec: null },
      { apiVersion: 'example.com/v1', kind: 'Thing', metadata: {}, spec: null },
    ],
  ])('%s', (_, stored, expected) => expect(parseStoredObject(JSON.stringify(stored))).toEqual(expected))

  it('keeps the nulls in the schemas of a CustomResourceDefinition', () => {
    const schema = { type: 'object', default: { a: null }, enum: [null] }
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'things.example.com' },
      spec: { versions: [{ name: 'v1', schema: { openAPIV3Schema: schema } }] },
    }
    expect(parseStoredObject(JSON.stringify(definition))).toEqual(definition)
  })
})
