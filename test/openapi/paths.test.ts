import { test, expect } from 'vitest'
import { builtInResources } from '../../src/registry/resources.ts'
import { pathsOf, builtInDialect } from '../../src/openapi/operations.ts'
import { pathsV3 } from '../../src/openapi/render-v3.ts'
import { pathsV2 } from '../../src/openapi/render-v2.ts'
import { openApiTexts } from '../../src/openapi/texts.ts'
import { groupVersionPath, groupPath, fixedPaths } from '../../src/openapi/fixed-paths.ts'
// @ts-ignore
import { doc, keys, allKeys } from './facts.mjs'
import fs from 'fs'
const sw=JSON.parse(fs.readFileSync('/work/shared/kubernetes/v1.36/swagger.json','utf8'))
test('x', async () => {
  const { describe } = await openApiTexts()
  const served=builtInResources({runtimeConfig:'api/all=true',featureGates:'AllAlpha=true,AllBeta=true'})
  let bad=0
  const all=[]
  for(const g of served.groups) for(const v of g.versions){ const key=g.group===''?'api/v1':`apis/${g.group}/${v.version}`
    const items=[groupVersionPath({group:g.group,version:v.version}),...v.resources.flatMap(r=>pathsOf(r,builtInDialect,describe))]
    if(keys.includes(key)) all.push(...items)
    const got=pathsV3(items), want=doc(key).paths
    if(JSON.stringify(Object.keys(got))!==JSON.stringify(Object.keys(want)))console.log(key,Object.keys(got).filter(k=>!want[k]),Object.keys(want).filter(k=>!got[k]))
    for(const p in want){const a=JSON.stringify(got[p]??null),b=JSON.stringify(want[p]);if(a!==b){bad++;if(bad<10){let i=0;while(a[i]===b[i]&&i<a.length)i++;console.log(p,'\n got ',a.slice(Math.max(0,i-80),i+160),'\n want',b.slice(Math.max(0,i-80),i+160))}}}
  }
  console.log('v3 bad',bad); bad=0
  const d=builtInResources(); for(const g of d.groups)if(g.group)all.push(groupPath(g.group)); all.push(...Object.values(fixedPaths))
  const {paths,parameters}=pathsV2(all)
    if(JSON.stringify(Object.keys(paths))!==JSON.stringify(Object.keys(sw.paths)))console.log(Object.keys(paths).filter(k=>!sw.paths[k]),Object.keys(sw.paths).filter(k=>!paths[k]))
    for(const p in sw.paths){const a=JSON.stringify(paths[p]??null),b=JSON.stringify(sw.paths[p]);if(a!==b){bad++;if(bad<10){let i=0;while(a[i]===b[i]&&i<a.length)i++;console.log(p,'\n got ',a.slice(Math.max(0,i-80),i+160),'\n want',b.slice(Math.max(0,i-80),i+160))}}}
  console.log('v2 bad',bad, JSON.stringify(parameters)===JSON.stringify(sw.parameters), Object.keys(parameters).length,Object.keys(sw.parameters).length)
})
