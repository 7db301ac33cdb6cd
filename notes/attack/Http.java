package dev.tollgate.handlers.jwt;
import java.io.*; import java.net.*; import java.util.concurrent.atomic.*; import java.time.*; import java.nio.charset.StandardCharsets;
public class Http {
  static AtomicInteger connections=new AtomicInteger(), reqs=new AtomicInteger();
  static String mode;
  public static void main(String[] a) throws Exception {
    ServerSocket s=new ServerSocket(0,500,InetAddress.getLoopbackAddress());
    String url="http://127.0.0.1:"+s.getLocalPort();
    Thread t=new Thread(()->{ while(true) try { Socket c=s.accept(); connections.incrementAndGet(); new Thread(()->serve(c,url)).start(); } catch(Exception e){return;} }); t.setDaemon(true); t.start();
    for (String m : new String[]{"close","reset","closeAfterFirst","halfHeader","drip","401","auth","redirect","100s","hugeHeader","chunkedHuge","gzip","bom"}) {
      mode=m; connections.set(0); reqs.set(0);
      PublishedKeySet p=new PublishedKeySet(url, Duration.ofSeconds(3));
      long b=System.nanoTime(); String r;
      int before=Thread.activeCount();
      try { r=p.read(); } catch(Throwable e){ r=e.toString(); }
      System.out.println(m+": "+connections+" connections, "+reqs+" requests, "+(System.nanoTime()-b)/1000000+" ms -> "+r.substring(0,Math.min(150,r.length())).replace("\n"," "));
    }
    System.exit(0);
  }
  static void serve(Socket c,String url) {
    try {
      BufferedReader in=new BufferedReader(new InputStreamReader(c.getInputStream())); OutputStream o=c.getOutputStream();
      int n=0;
      while(true){
        String l=in.readLine(); if(l==null) return; String first=l; while(l!=null&&!l.isEmpty()) l=in.readLine();
        reqs.incrementAndGet(); n++;
        String disc="{\"issuer\":\""+url+"\",\"jwks_uri\":\""+url+"/keys\"}";
        switch(mode){
          case "close": c.close(); return;
          case "reset": c.setSoLinger(true,0); c.close(); return;
          case "closeAfterFirst": if(first.contains("/keys")){c.close();return;} w(o,"HTTP/1.1 200 OK\r\nContent-Length: "+disc.length()+"\r\n\r\n"+disc); break;
          case "halfHeader": w(o,"HTTP/1.1 200"); c.close(); return;
          case "drip": w(o,"HTTP/1.1 200 OK\r\n"); for(int i=0;i<100;i++){w(o,"X-"+i+": a\r\n"); Thread.sleep(200);} return;
          case "401": w(o,"HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=x\r\nContent-Length: 0\r\n\r\n"); break;
          case "auth": w(o,"HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=x\r\nContent-Length: 0\r\n\r\n"); break;
          case "redirect": w(o,"HTTP/1.1 302 F\r\nLocation: "+url+"/x\r\nContent-Length: 0\r\n\r\n"); break;
          case "100s": for(int i=0;i<1000000;i++) w(o,"HTTP/1.1 100 Continue\r\n\r\n"); return;
          case "hugeHeader": w(o,"HTTP/1.1 200 OK\r\nX: "); byte[] b=new byte[1<<20]; java.util.Arrays.fill(b,(byte)'a'); for(int i=0;i<2000;i++) o.write(b); return;
          case "chunkedHuge": w(o,"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"); for(int i=0;i<1000000;i++) w(o,"400\r\n"+"x".repeat(1024)+"\r\n"); return;
          case "gzip": w(o,"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc"); break;
          case "bom": byte[] bb=("\ufeff"+disc).getBytes("UTF-8"); w(o,"HTTP/1.1 200 OK\r\nContent-Length: "+bb.length+"\r\n\r\n"); o.write(bb); break;
        }
      }
    } catch(Exception e){}
  }
  static void w(OutputStream o,String s) throws IOException { o.write(s.getBytes(StandardCharsets.UTF_8)); o.flush(); }
}
