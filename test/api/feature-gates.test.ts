import { describe, expect, it, test } from 'vitest'
import { parseFeatureGates } from '../../src/api/feature-gates.ts'

describe('refuses, as kube-apiserver', () => {
  test.each([
    ['Unheard=true', 'unrecognized feature gate: Unheard'],
    ['WatchList=2', 'invalid value of WatchList=2, err: strconv.ParseBool: parsing "2": invalid syntax'],
    ['JobManagedBy=false', 'cannot set feature gate JobManagedBy to false, feature is locked to true'],
    [
      'JobManagedBy=false,GitRepoVolumeDriver=true',
      '[cannot set feature gate JobManagedBy to false, feature is locked to true, ' +
        'cannot set feature gate GitRepoVolumeDriver to true, feature is locked to false]',
    ],
    ['GangScheduling=true', 'GangScheduling is enabled, but depends on features that are disabled: [GenericWorkload]'],
    [
      'NodeDeclaredFeatures=false,AllAlpha=true,InPlacePodLevelResourcesVerticalScaling=false,' +
        'InPlacePodVerticalScalingInitContainers=false,RestartAllContainersOnContainerExits=false,' +
        'ExtendWebSocketsToKubelet=false',
      'UserNamespacesHostNetworkSupport is enabled, but depends on features that are disabled: [NodeDeclaredFeatures]',
    ],
  ])('%s', (setting, message) => {
    expect(() => parseFeatureGates(setting)).toThrow(new Error(message))
  })
})

it('accepts the default of a locked gate', () => {
  expect(parseFeatureGates('JobManagedBy=true').enabled('JobManagedBy')).toBe(true)
})

it.each([undefined, 'AllAlpha=true', 'AllAlpha=true,AllBeta=true'])('has what each gate needs with %s', (setting) => {
  expect(parseFeatureGates(setting).all.length).toBeGreaterThan(200)
})
