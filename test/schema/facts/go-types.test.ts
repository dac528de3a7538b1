import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
// the scripts are JavaScript, since they run without a build
const at = (name: string): string => join(import.meta.dirname, '../../../src/schema/facts', name)
const { readGoPackage, resolveConstants } = await import(at('go-package.mjs'))
const { typesOf } = await import(at('go-types.mjs'))
const { featureGatesOf } = await import(at('feature-gates.mjs'))

const META = `package v1

type TypeMeta struct {
	Kind string \`json:"kind,omitempty" protobuf:"bytes,1,opt,name=kind"\`
}

type ObjectMeta struct {
	Name string \`json:"name,omitempty" protobuf:"bytes,1,opt,name=name"\`
}
`

const THINGS = `package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// +k8s:prerelease-lifecycle-gen:introduced=1.30

// A Thing is a thing.
type Thing struct {
	metav1.TypeMeta \`json:",inline"\`
	// +optional
	metav1.ObjectMeta \`json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"\`
	// what is wanted
	Spec ThingSpec \`json:"spec" protobuf:"bytes,2,opt,name=spec"\`
}

// +enum
type Mode string

const (
	ModeOn  Mode = "On"
	ModeOff      = Mode("Off")
	modeDefault = ModeOn
)

type ThingSpec struct {
	ThingSource \`json:",inline" protobuf:"bytes,9,opt,name=source"\`
	// +optional
	// +default=ref(modeDefault)
	Mode *Mode \`json:"mode,omitempty" protobuf:"bytes,1,opt,name=mode,casttype=Mode"\`
	// +required
	// +listType=map
	// +listMapKey=name
	// +listMapKey=port
	// +featureGate=ThingParts
	Parts []Part \`json:"parts,omitempty" patchStrategy:"merge" patchMergeKey:"name" protobuf:"bytes,2,rep,name=parts"\`
	// +mapType=atomic
	Labels map[string]types.UID \`json:"labels" protobuf:"bytes,3,rep,name=labels"\`
	Data   []byte               \`json:"data,omitempty" protobuf:"bytes,4,opt,name=data"\`
	secret string
}

// +structType=atomic
type Part struct {
	Count int32 \`json:"count,omitempty" protobuf:"varint,1,opt,name=amount"\`
}

type ThingSource struct{}
`

const PROTO = ['Thing', 'ThingSpec', 'Part', 'ThingSource'].map((name) => `message ${name} {\n}\n`).join('')
const REGISTER = `package v1

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(SchemeGroupVersion,
		&Thing{},
	)
}
`

function packagesIn(files: Readonly<Record<string, string>>) {
  const directory = mkdtempSync(join(tmpdir(), 'kedge-facts-'))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true })
    writeFileSync(join(directory, name), text)
  }
  const packages = new Map()
  const read = (folder: string, path: string) => {
    packages.set(path, readGoPackage(join(directory, folder), path))
    return packages.get(path)
  }
  return { directory, packages, read }
}

test('types, fields and what their comments say', () => {
  const { packages, read } = packagesIn({
    'meta/types.go': META,
    'meta/generated.proto': 'message ObjectMeta {\n}\nmessage TypeMeta {\n}\n',
    'things/types.go': THINGS,
    'things/register.go': REGISTER,
    'things/generated.proto': PROTO,
    'things/types_test.go': 'package v1\n\ntype Ignored struct {\n}\n',
  })
  read('meta', 'k8s.io/apimachinery/pkg/apis/meta/v1')
  read('things', 'k8s.io/api/things/v1').group = 'things.k8s.io'
  resolveConstants(packages)
  const { types, enums } = typesOf(packages, () => true)
  const of = (kind: string) => types.find(({ name }: { name: string }) => name === `io.k8s.api.things.v1.${kind}`)
  expect(types).toHaveLength(6)
  expect(enums['io.k8s.api.things.v1.Mode']).toEqual({ declared: true, values: ['Off', 'On'] })
  expect(of('Thing')).toEqual({
    name: 'io.k8s.api.things.v1.Thing',
    goPackage: 'k8s.io/api/things/v1',
    protoPackage: 'k8s.io.api.things.v1',
    gvk: { group: 'things.k8s.io', version: 'v1', kind: 'Thing' },
    lifecycle: { introduced: '1.30' },
    typeMeta: true,
    fields: [
      { json: 'metadata', proto: 1, type: 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta', omit: 'empty' },
      { json: 'spec', proto: 2, type: 'io.k8s.api.things.v1.ThingSpec', required: true },
    ],
  })
  expect(of('ThingSpec').fields).toEqual([
    { json: null, proto: 9, protoName: 'source', type: 'io.k8s.api.things.v1.ThingSource', inline: true },
    {
      json: 'mode',
      proto: 1,
      type: 'string',
      ptr: true,
      omit: 'empty',
      alias: 'io.k8s.api.things.v1.Mode',
      enum: ['Off', 'On'],
      default: 'On',
    },
    {
      json: 'parts',
      proto: 2,
      type: 'io.k8s.api.things.v1.Part',
      repeated: true,
      omit: 'empty',
      required: true,
      listType: 'map',
      listMapKeys: ['name', 'port'],
      patchStrategy: 'merge',
      patchMergeKey: 'name',
      featureGates: ['ThingParts'],
    },
    { json: 'labels', proto: 3, type: 'map', key: 'string', value: 'string', required: true, mapType: 'atomic' },
    { json: 'data', proto: 4, type: 'bytes', omit: 'empty' },
  ])
  expect(of('Part')).toMatchObject({
    structType: 'atomic',
    fields: [{ json: 'count', proto: 1, protoName: 'amount', type: 'int32', omit: 'empty' }],
  })
})

test('a feature gate is what its last row up to the release says', () => {
  const { directory } = packagesIn({
    'pkg/features/kube_features.go': `package features

const (
	// a comment
	Things featuregate.Feature = "ThingsOfAllSorts"
)

var gates = map[featuregate.Feature]featuregate.VersionedSpecs{
	Things: {
		{Version: version.MustParse("1.9"), Default: false, PreRelease: featuregate.Alpha},
		// a comment
		{Version: version.MustParse("1.35"), Default: true, PreRelease: featuregate.Beta},
		{Version: version.MustParse("1.37"), Default: true, LockToDefault: true, PreRelease: featuregate.GA},
	},
}
`,
  })
  const gatesOf = (release: string) => featureGatesOf(new Map([['kubernetes', directory]]), release)
  expect(gatesOf('1.36')).toMatchObject({ ThingsOfAllSorts: { stage: 'BETA', default: true } })
  expect(gatesOf('1.30')).toMatchObject({ ThingsOfAllSorts: { stage: 'ALPHA', default: false } })
  expect(gatesOf('1.37')).toMatchObject({ ThingsOfAllSorts: { stage: 'GA', default: true } })
})
