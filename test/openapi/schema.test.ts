import { test, expect } from 'vitest'
import { openApiModel, closureOf } from '/work/main/src/schema/to-openapi.ts'
// @ts-ignore
import { o, oa, keys, allKeys, doc } from './facts.mjs'
import fs from 'fs'
const sw=JSON.parse(fs.readFileSync('/work/shared/kubernetes/v1.36/swagger.json','utf8')), swa=JSON.parse(fs.readFileSync('/work/shared/kubernetes/v1.36/swagger-all.json','utf8'))
test('x', () => {
  const S={...o.schemas,...oa.schemas}
  let bad=0
  for(const [v,T] of [['v3',S],['v2',{...sw.definitions,...swa.definitions}]] as any){ let n=0
  for (const k of Object.keys(T)) {
    const want=T[k]
    const describe=(m:string,f:string)=>f===''?S[m]?.description:S[m]?.properties?.[f]?.description
    const gvk=want['x-kubernetes-group-version-kind']
    let got; try{got=openApiModel(k,v,describe, /meta\.v1\.(DeleteOptions|WatchEvent)$/.test(k)?gvk:undefined)}catch(e){got=String(e)}
    n++
    if(JSON.stringify(got)!==JSON.stringify(want)){bad++; if(v==="v2"||bad<12){const a=JSON.stringify(got).replace(/"description":"([^"\\]|\\.)*",?/g,''),b=JSON.stringify(want).replace(/"description":"([^"\\]|\\.)*",?/g,'');let i=0;while(a[i]===b[i]&&i<a.length)i++;console.log(v,k,'\n got ',a.slice(Math.max(0,i-80),i+120),'\n want',b.slice(Math.max(0,i-80),i+120))}}
  } console.log(v,n,'bad',bad)}
  let cb=0
  for(const k of [...keys,...allKeys]){const d=o.documents[k]??oa.documents[k]; if(!d.schemas)continue; const refs=new Set<string>();JSON.stringify(d.paths).replace(/#\/components\/schemas\/([^"]+)"/g,(_,m)=>{refs.add(m);return ''}); const c=closureOf(refs); if(JSON.stringify(c)!==JSON.stringify(d.schemas)){cb++;console.log(k,c.filter(x=>!d.schemas.includes(x)),d.schemas.filter((x:string)=>!c.includes(x)))}}
  console.log('closure bad',cb)
})
