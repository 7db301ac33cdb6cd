package dev.tollgate.handlers.jwt;
import com.nimbusds.jose.util.Base64URL;
import java.time.*; import java.util.*;
public class Timing {
  public static void main(String[] a) throws Exception {
    TokenVerifier v = new TokenVerifier(new TokenVerifier.Accepted("https://x/", List.of("chat"), Set.of("RS256"), Duration.ZERO), () -> "{\"keys\":[]}", InstantSource.system());
    List<String[]> all = new ArrayList<>();
    for (String name : List.of("kid","crit","jwk","x5c","p2c","b64","other"))
      for (String value : List.of("1","1e400","1e99999","1e999999","1e9999999","1e99999999","1e999999999","1e2147483647","-1e-999999999","9".repeat(5000),"\"x\"","[".repeat(1500)+"]".repeat(1500),"{\"a\":".repeat(700)+"1"+"}".repeat(700),"[".repeat(5500)))
        all.add(new String[]{name,value});
    for (String[] nv : all) {
      String h = "{\"alg\":\"RS256\",\"kid\":\"one\",\""+nv[0]+"\":"+nv[1]+"}";
      String t = Base64URL.encode(h)+".e30.AA";
      if (t.length()>8192) { System.out.println("too long "+nv[0]); continue; }
      long s=System.nanoTime(); String r;
      try { r = v.verify(t).toString(); } catch (Throwable e) { r = e.toString(); }
      long ms=(System.nanoTime()-s)/1000000;
      if (ms>20) System.out.println(ms+" ms "+nv[0]+"="+nv[1].substring(0,Math.min(20,nv[1].length()))+" -> "+r.substring(0,Math.min(120,r.length())));
    }
  }
}
