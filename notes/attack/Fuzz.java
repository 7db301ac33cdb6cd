package dev.tollgate.handlers.jwt;
import com.nimbusds.jose.util.Base64URL;
import java.time.*; import java.util.*;
public class Fuzz {
  static Random r=new Random(41);
  static String[] names={"alg","kid","typ","cty","crit","b64","jwk","jku","x5u","x5t","x5t#S256","x5c","enc","zip","epk","apu","iss","kty","n","e","d","use","key_ops","crv","x","y","exp","nbf","iat","k","oth","p"};
  static String[] leafs={"null","\"RS256\"","\"one\"","\"RSA\"","\"EC\"","\"P-256\"","\"oct\"","\"OKP\"","\"AA\"","\"\"","1","-1","1.5","1e999","true","[]","{}","\"http://x\"","\" \"","'x'","NaN","\"sig\"","[\"sign\"]","99999999999999999999999"};
  static String val(int d){ int k=r.nextInt(10); if(d>2||k<6) return leafs[r.nextInt(leafs.length)];
    if(k<8){StringBuilder b=new StringBuilder("["); int n=r.nextInt(3); for(int i=0;i<=n;i++) b.append(i>0?",":"").append(val(d+1)); return b+"]";}
    return obj(d+1,r.nextInt(5)); }
  static String obj(int d,int n){StringBuilder b=new StringBuilder("{"); for(int i=0;i<n;i++) b.append(i>0?",":"").append("\""+names[r.nextInt(names.length)]+"\":").append(val(d)); return b+"}";}
  public static void main(String[] a) throws Exception {
    String key=new com.nimbusds.jose.jwk.gen.RSAKeyGenerator(2048).keyID("one").generate().toPublicJWK().toJSONString();
    String ec=new com.nimbusds.jose.jwk.gen.ECKeyGenerator(com.nimbusds.jose.jwk.Curve.P_256).keyID("one").generate().toPublicJWK().toJSONString();
    int[] f={0};
    TokenVerifier v = new TokenVerifier(new TokenVerifier.Accepted("https://x/", List.of("chat"), Set.of("RS256","ES256","ES384","ES512","RS512"), Duration.ZERO), () -> {f[0]++; return "{\"keys\":["+key+","+ec+"]}";}, InstantSource.fixed(Instant.now()));
    Map<String,Integer> seen=new TreeMap<>(); long n=0, end=System.nanoTime()+60_000_000_000L;
    String[] algs={"RS256","ES256","ES384","RS512","ES512"};
    byte[][] sigs={new byte[0],new byte[1],new byte[64],new byte[96],new byte[132],new byte[256],new byte[257],new byte[5000]};
    while(System.nanoTime()<end){ n++;
      String h; int k=r.nextInt(4);
      if(k==0) h=val(0); else if(k==1) h=obj(0,r.nextInt(6)); else { String o=obj(0,r.nextInt(5)); String base="\"alg\":\""+algs[r.nextInt(5)]+"\",\"kid\":\"one\""; h=o.equals("{}")?"{"+base+"}":(k==2?"{"+base+","+o.substring(1):o.substring(0,o.length()-1)+","+base+"}"); }
      byte[] s=sigs[r.nextInt(sigs.length)].clone(); if(r.nextBoolean()) r.nextBytes(s);
      String t=Base64URL.encode(h)+"."+Base64URL.encode(r.nextBoolean()?val(0):obj(0,4))+"."+Base64URL.encode(s);
      if(r.nextInt(20)==0){char[] c=t.toCharArray(); c[r.nextInt(c.length)]=(char)r.nextInt(300); t=new String(c);}
      String res; try { TokenCheck c=v.verify(t); res=c instanceof TokenCheck.Valid?"VALID!! "+t:((TokenCheck.Invalid)c).reason(); } catch(Throwable e){ res="ESCAPED "+e+" e.g. "; if(!seen.containsKey(res)) System.out.println(res+" header "+h+" token "+t.substring(0,Math.min(80,t.length()))); }
      seen.merge(res,1,Integer::sum);
    }
    System.out.println(n+" tokens, fetches "+f[0]); seen.forEach((x,y)->System.out.println(y+" "+x));
  }
}
